package hosts

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"snag/fleet/exporter"
	"snag/internal/shown"
	"snag/internal/sorting"
	"snag/internal/units"
)

// What is shown fits on a terminal of 24 lines; --json has the rest.
const (
	mostSigned = 4 // hosts
	mostSigns  = 4 // of each
	mostThere  = 3 // of a host that a way ends at
)

// writeSignsThere writes the signs of a host that a way ends at.
func (f *Fleet) writeSignsThere(out *strings.Builder, s Step) {
	h := f.Hosts[s.To]
	if !s.Unrecorded || h == nil || h.Exporter == nil {
		return
	}
	switch x := h.Exporter; {
	case !x.Scraped:
		fmt.Fprintf(out, "    its node_exporter is not scraped now\n")
	case len(x.Signs) == 0:
		fmt.Fprintf(out, "    no sign there, which clears nobody\n")
	default:
		fmt.Fprintf(out, "    signs there, which prove nothing:\n")
		for _, one := range x.Signs[:min(len(x.Signs), mostThere)] {
			fmt.Fprintf(out, "      %s\n", shown.Text(one.String()))
		}
	}
}

// writeSigns writes what node_exporter shows of the hosts without a recorder: those with most that is new first.
func (f *Fleet) writeSigns(out *strings.Builder) {
	var signed []*Host
	var none, down []string
	all := 0
	for _, name := range f.names() {
		switch h := f.Hosts[name]; {
		case !h.Chosen || h.Exporter == nil:
			continue
		case !h.Exporter.Scraped:
			down = append(down, name)
		case len(h.Exporter.Signs) == 0:
			none = append(none, name)
		default:
			signed = append(signed, h)
		}
		all++
	}
	if all == 0 {
		return
	}
	fmt.Fprintf(out, "\nSIGNS from node_exporter, in the last %.0f min (usual: in the hour before that)\n", exporter.Window.Minutes())
	sorting.StableBy(signed, func(a, b *Host) int {
		return cmp.Or(cmp.Compare(fresh(b), fresh(a)), cmp.Compare(len(b.Exporter.Signs), len(a.Exporter.Signs)))
	})
	for _, h := range signed[:min(len(signed), mostSigned)] {
		h.writeSigns(out)
	}
	if more := signed[min(len(signed), mostSigned):]; len(more) > 0 {
		fmt.Fprintf(out, "%s with signs (--json has all): %s\n", units.Plural(len(more), "more host"), kinds(more))
	}
	if len(none) > 0 {
		fmt.Fprintf(out, "no sign on %s, which clears nobody: %s\n", units.Plural(len(none), "host"), shown.Text(some(none, mostSigned)))
	}
	if len(down) > 0 {
		fmt.Fprintf(out, "not scraped now, but within the last hour: %s\n", shown.Text(some(down, mostSigned)))
	}
	f.writeUnread(out)
	fmt.Fprintf(out, "No client was measured here: who waited is not seen; `snag record` on that host\nshows it.\n")
}

// fresh counts the signs that are new since the hour before.
func fresh(h *Host) (n int) {
	for _, s := range h.Exporter.Signs {
		if s.New() {
			n++
		}
	}
	return n
}

func (h *Host) writeSigns(out *strings.Builder) {
	fmt.Fprintf(out, "%s (%s)\n", shown.Text(h.Name), shown.Text(h.Exporter.Instance))
	for i, s := range h.Exporter.Signs {
		if i == mostSigns {
			fmt.Fprintf(out, "  and %s\n", units.Plural(len(h.Exporter.Signs)-i, "more sign"))
			return
		}
		fmt.Fprintf(out, "  %s\n", shown.Text(s.String()))
	}
}

// kinds counts the hosts that have each sign.
func kinds(all []*Host) string {
	n := map[string]int{}
	for _, h := range all {
		seen := map[string]bool{}
		for _, s := range h.Exporter.Signs {
			if !seen[s.Name] {
				seen[s.Name] = true
				n[s.Name]++
			}
		}
	}
	return counted(n, "%s %s")
}

// counted lists names with their counts, the highest first.
func counted(n map[string]int, format string) string {
	names := sorting.Collect(maps.Keys(n), func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf(format, name, units.Count(float64(n[name])))
	}
	return some(names, mostNamed)
}

// writeUnread writes which of node_exporter's collectors did not answer, and on how many hosts.
func (f *Fleet) writeUnread(out *strings.Builder) {
	n := map[string]int{}
	for _, h := range f.Hosts {
		if h.Chosen && h.Exporter != nil {
			for _, name := range h.Exporter.Unread {
				n[name]++
			}
		}
	}
	if len(n) > 0 {
		fmt.Fprintf(out, "not seen, without data of these collectors (hosts): %s\n", counted(n, "%s (%s)"))
	}
	for _, text := range f.Unread[:min(len(f.Unread), mostWays)] {
		fmt.Fprintf(out, "not seen   %s\n", shown.Text(text))
	}
	if more := len(f.Unread) - mostWays; more > 0 {
		fmt.Fprintf(out, "not seen   %s\n", units.Plural(more, "more answer"))
	}
}
