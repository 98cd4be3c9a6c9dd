package drawn

import (
	"fmt"
	"strings"
)

// LongRules makes a list of rules that match nothing. While it is on, each packet that
// comes to the namespace goes through all of them.
func (b *Bench) LongRules(ns string, n int) (on, off func()) {
	var rules strings.Builder
	rules.WriteString("table ip lab-rules {\n chain blocked {\n")
	for i := range n {
		fmt.Fprintf(&rules, "  ip protocol != icmp ip ttl != 0 meta mark %d drop\n", i+1)
	}
	rules.WriteString(" }\n chain arriving {\n  type filter hook prerouting priority -300; policy accept;\n }\n}\n")
	b.Nft(ns, rules.String())
	return func() { b.Nft(ns, "add rule ip lab-rules arriving jump blocked\n") }, func() { b.Nft(ns, "flush chain ip lab-rules arriving\n") }
}

// RuleCost is about what one of these rules takes of a packet's time, seconds.
const RuleCost = 15e-9
