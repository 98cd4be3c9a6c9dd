package nearest

import (
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		typed string
		names string
		want  string
	}{
		{"fnd", "find judge show compare", "find"},
		{"fimd", "find judge show compare", "find"},
		{"jugde", "find judge show compare", "judge"},
		{"prot", "port pid unit peek", "port"},
		{"PORT", "port pid", "port"},
		{"nagle", "qdisc-drop nagle-delayed-ack", "nagle-delayed-ack"},
		{"conntrack", "no-route conntrack-full", "conntrack-full"},
		{"lock", "lock-convoy spin-lock session-lock disk-stall clock", "lock-convoy spin-lock session-lock"},
		{"swpa", "swap no-route", "swap"},
		{"rmem_mx", "qdisc net.core.rmem_max net.core.wmem_max", "net.core.rmem_max net.core.wmem_max"},
		{"nonsense", "find judge show compare", ""},
		{"x", "a b find", ""},
		{"", "find", ""},
		{strings.Repeat("find", 1000), "find", ""},
	} {
		if got := strings.Join(Names(c.typed, strings.Fields(c.names)), " "); got != c.want {
			t.Errorf("Names(%.20q) of %s: %q, want %q", c.typed, c.names, got, c.want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	flag := func(s string) string { return "--" + s }
	if got := DidYouMean("prot", []string{"port"}, flag); got != "; did you mean --port?" {
		t.Errorf("one name: %q", got)
	}
	if got := DidYouMean("lo", []string{"load", "log", "find"}, flag); got != "; did you mean --load or --log?" {
		t.Errorf("two names: %q", got)
	}
	if got := DidYouMean("zzzz", []string{"port"}, flag); got != "" {
		t.Errorf("no name: %q", got)
	}
}

func TestDistanceIsSymmetric(t *testing.T) {
	for _, c := range [][2]string{{"abc", "acb"}, {"", "abc"}, {"find", "fiend"}} {
		if a, b := distance(c[0], c[1]), distance(c[1], c[0]); a != b {
			t.Errorf("%q: %d one way and %d the other", slices.Clone(c[:]), a, b)
		}
	}
}
