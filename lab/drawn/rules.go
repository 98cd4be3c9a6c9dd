package drawn

import (
	"fmt"
	"strings"
)

// LongRules makes a list of rules that match nothing. While it is on, each packet that
// comes to the namespace goes through all of them.
func (b *Bench) LongRules(ns string, n int) (on, off func()) {
	var rules strings.Builder
	rules.WriteString("table ip lab-rules {\n chain list {\n")
	for i := range n {
		fmt.Fprintf(&rules, "  meta mark %d drop\n", i+1)
	}
	rules.WriteString(" }\n chain all {\n  type filter hook prerouting priority -300; policy accept;\n }\n}\n")
	b.Nft(ns, rules.String())
	return func() { b.Nft(ns, "add rule ip lab-rules all jump list\n") }, func() { b.Nft(ns, "flush chain ip lab-rules all\n") }
}

// RuleCost is about what one of these rules takes of a packet's time, seconds.
const RuleCost = 5e-9
