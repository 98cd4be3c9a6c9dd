package page

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"snag/recording"
)

func process(pid int, comm string) string {
	if pid == 0 {
		return comm
	}
	return fmt.Sprintf("%s[%d]", comm, pid)
}

// drops sums the dropped packets of the window by reason and place, with the
// kernel stack of the first of each.
func (b *builder) drops() Table {
	t := Table{Name: "drops", Title: "Dropped packets", Note: "by reason and place in the kernel; benign ones (a duplicate, data left in a closed socket) affect no client", Columns: []Column{
		{"packets", "count"}, {"reason", "text"}, {"place", "text"}, {"benign", "text"}, {"netns", "text"}, {"device", "text"}, {"proto", "text"},
		{"from", "text"}, {"to", "text"}, {"socket of", "text"}, {"first", "clock"}, {"last", "clock"}, {"stack", "lines"},
	}}
	stacks := map[int]string{}
	for _, s := range b.r.Stacks {
		stacks[s.ID] = strings.Join(s.Frames, "\n")
	}
	type key struct {
		reason, place, device, proto string
		netns                        uint64
		pid                          int
		benign                       bool
	}
	type sum struct {
		first, last recording.Drop
		n           uint64
	}
	sums := map[key]*sum{}
	var order []key
	for _, d := range b.r.Drops {
		k := key{d.Reason, d.Place, d.Device, d.Proto, d.Netns, d.PID, d.Benign}
		s := sums[k]
		if s == nil {
			s = &sum{first: d}
			sums[k] = s
			order = append(order, k)
		}
		s.n, s.last = s.n+d.N, d
	}
	sort.SliceStable(order, func(i, j int) bool {
		if order[i].benign != order[j].benign {
			return !order[i].benign
		}
		return sums[order[i]].n > sums[order[j]].n
	})
	for _, k := range order {
		s := sums[k]
		benign := ""
		if k.benign {
			benign = "benign"
		}
		var stack any
		if text, ok := stacks[s.first.Stack]; ok {
			stack = text
		}
		t.Rows = append(t.Rows, []any{s.n, k.reason, k.place, benign, b.s.NetnsName(k.netns), k.device, k.proto, s.first.Src, s.first.Dst,
			process(k.pid, s.first.Comm), b.since(s.first.T), b.since(s.last.T), stack})
	}
	return t
}

// qdiscs has one row for each queueing discipline with what it counted.
func (b *builder) qdiscs() Table {
	t := Table{Name: "qdiscs", Title: "Queueing disciplines", Note: "counts over the window", Columns: []Column{
		{"found", "text"}, {"netns", "text"}, {"device", "text"}, {"kind", "text"}, {"handle", "text"}, {"parent", "text"}, {"set to", "text"},
		{"packets", "count"}, {"bytes", "bytes"}, {"drops", "count"}, {"overlimits", "count"}, {"requeues", "count"}, {"backlog, most", "bytes"},
	}}
	for _, q := range b.s.Qdiscs {
		row := q.Row
		pairs := []string{"device", row.Device, "handle", row.Handle}
		if row.Netns != 0 && row.Netns != b.r.Manifest.Netns {
			pairs = append(pairs, "netns", strconv.FormatUint(row.Netns, 10))
		}
		cells := []any{b.foundQdisc(q.Subject), b.s.NetnsName(row.Netns), row.Device, row.Kind, row.Handle, row.Parent, options(row.Options)}
		for _, name := range []string{"packets", "bytes", "drops", "overlimits", "requeues"} {
			var cell any
			if v, ok := b.grew("node_qdisc_"+name+"_total", pairs...); ok {
				cell = v
			}
			cells = append(cells, cell)
		}
		var backlog any
		for _, s := range b.r.Select("node_qdisc_backlog", pairs...) {
			if v, ok := s.Max(); ok {
				backlog = v
			}
		}
		t.Rows = append(t.Rows, append(cells, backlog))
	}
	const drops = 9
	sort.SliceStable(t.Rows, func(i, j int) bool {
		x, _ := t.Rows[i][drops].(float64)
		y, _ := t.Rows[j][drops].(float64)
		return x > y
	})
	return t
}

// foundQdisc is what was found on a qdisc itself: its marks are its interface's.
func (b *builder) foundQdisc(sub recording.Subject) string {
	for _, state := range drawn {
		for _, e := range b.v.With(state) {
			if e.Subject.Kind == recording.KindQdisc && e.Subject.Netns == sub.Netns && e.Subject.Device == sub.Device && e.Subject.Handle == sub.Handle {
				return string(state) + ": " + e.Suspect.Name
			}
		}
	}
	return ""
}

func options(o map[string]string) string {
	var parts []string
	for k, v := range o {
		parts = append(parts, k+" "+v)
	}
	sort.Strings(parts)
	return strings.Join(parts, " · ")
}

// facts is how the host is set: the last value of each.
func (b *builder) facts() Table {
	t := Table{Name: "facts", Title: "How the host is set", Columns: []Column{{"name", "text"}, {"value", "text"}, {"netns", "text"}, {"read from", "text"}}}
	type key struct {
		name  string
		netns uint64
	}
	at := map[key]int{}
	for _, f := range b.r.Facts {
		row := []any{f.Name, f.Value, b.s.NetnsName(f.Netns), f.Source}
		if f.Netns == b.r.Manifest.Netns {
			f.Netns = 0 // the own namespace's are there twice
		}
		k := key{f.Name, f.Netns}
		if i, have := at[k]; have {
			t.Rows[i] = row
			continue
		}
		at[k] = len(t.Rows)
		t.Rows = append(t.Rows, row)
	}
	sort.SliceStable(t.Rows, func(i, j int) bool {
		a, z := t.Rows[i], t.Rows[j]
		if a[2] != z[2] {
			return a[2].(string) < z[2].(string)
		}
		return a[0].(string) < z[0].(string)
	})
	return t
}

// coverage is what each probe measured, lost and cost, what is not whole first.
func (b *builder) coverage() Table {
	t := Table{Name: "coverage", Title: "What was measured", Note: "and what it cost to measure it", Columns: []Column{
		{"measure", "text"}, {"state", "text"}, {"why", "text"}, {"cure", "text"}, {"since", "clock"}, {"lost", "count"}, {"late", "seconds"}, {"CPU", "seconds"},
	}}
	for _, c := range b.r.Coverage {
		var since any
		if c.Since != 0 {
			since = b.since(c.Since)
		}
		t.Rows = append(t.Rows, []any{c.Probe, c.State, c.Why, c.Cure, since, c.Lost, round(c.Late), round(c.Cost)})
	}
	sort.SliceStable(t.Rows, func(i, j int) bool {
		return (t.Rows[i][1] != recording.CoverageOK) && (t.Rows[j][1] == recording.CoverageOK)
	})
	return t
}
