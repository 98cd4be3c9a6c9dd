package page

import (
	"sort"
	"strings"

	"snag/recording"
	"snag/report/profile"
	"snag/scene"
)

// tables are those of the page, in order.
func (b *builder) tables() []Table {
	out := []Table{}
	for _, t := range []Table{
		b.load(), b.experiments(), b.bothEnds(), b.waits(), b.conversations(), b.ladder(), b.sockets(), b.connections(), b.requests(), b.callErrors(), b.locks(), b.calls(),
		b.functions(profile.OnCPU, "Functions on the CPU"), b.functions(profile.OffCPU, "Functions off the CPU"), b.drops(), b.qdiscs(), b.facts(), b.coverage(),
	} {
		if len(t.Rows) == 0 && (t.Name == "load" || t.Name == "experiments" || t.Name == "both-ends" || t.Name == "waits" || t.Name == "conversations" || t.Name == "ladder" || t.Name == "locks" || t.Name == "calls" || strings.HasPrefix(t.Name, "functions")) {
			continue // of a closer look or a profile, that most recordings have not
		}
		if len(t.Rows) == 0 && b.onlyStreams() {
			continue // nobody looked at the host: that it has no sockets would be wrong
		}
		t.Total = len(t.Rows)
		if t.Total > b.limits.Rows {
			t.Rows = t.Rows[:b.limits.Rows]
		}
		if t.Rows == nil {
			t.Rows = [][]any{}
		}
		out = append(out, t)
	}
	return out
}

// sockets has one row for each socket, those that matter most first.
func (b *builder) sockets() Table {
	t := Table{Name: "sockets", Title: "Sockets", Note: "every socket seen, its worst in the window; queues of a listener are connections", Columns: []Column{
		{"found", "text"}, {"process", "text"}, {"netns", "text"}, {"proto", "text"}, {"state", "text"}, {"local", "text"}, {"remote", "text"},
		{"Recv-Q most", "count"}, {"Send-Q most", "count"}, {"buffer", "bytes"}, {"drops", "count"}, {"received", "bytes"}, {"sent", "bytes"},
		{"rtt", "seconds"}, {"retransmitted", "count"}, {"cwnd", "count"},
	}}
	all := append([]*scene.Socket(nil), b.s.Sockets...)
	weight := map[*scene.Socket]float64{}
	for _, k := range all {
		weight[k] = b.weight(k)
	}
	sort.SliceStable(all, func(i, j int) bool { return weight[all[i]] > weight[all[j]] })
	for _, k := range all[:min(len(all), b.limits.Rows)] {
		f, last := k.First(), k.Last()
		mostIn, mostOut := 0, 0
		for _, row := range k.Rows {
			mostIn, mostOut = max(mostIn, row.RecvQ), max(mostOut, row.SendQ)
		}
		var in, out, rtt, again, cwnd any
		if got, gave, ok := moved(k); ok {
			in, out = got, gave
		}
		if last.TCP != nil && !k.Listening() {
			rtt, cwnd = round(last.TCP.RTT), last.TCP.Cwnd
			if f.TCP != nil {
				again = max(0, last.TCP.TotalRetrans-f.TCP.TotalRetrans)
			}
		}
		owner := ""
		if p := k.Owner(); p != nil {
			owner = p.Subject.Name
		}
		t.Rows = append(t.Rows, []any{b.found(k.ID), bare(owner), b.s.NetnsName(f.Netns), f.Proto, last.State, f.Local, f.Remote,
			mostIn, mostOut, orNull(last.RcvBuf), k.DropsGrew(), in, out, rtt, again, cwnd})
	}
	for range len(all) - len(t.Rows) {
		t.Rows = append(t.Rows, nil) // counted, and cut off by tables
	}
	return t
}

// bare is a name without its namespace, which has a column of its own.
func bare(name string) string {
	for i := range name {
		if i > 0 && name[i-1] == ' ' && name[i] == '(' {
			return name[:i-1]
		}
	}
	return name
}

// found says what was found on a node, in a word.
func (b *builder) found(id scene.NodeID) string {
	if marks := b.marks[id]; len(marks) > 0 {
		return marks[0].State + ": " + marks[0].Name
	}
	return ""
}

func orNull(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// connections sums the connections of the window by local port and peer.
func (b *builder) connections() Table {
	t := Table{Name: "connections", Title: "Connections opened and closed", Note: "by local port and peer, over the window", Columns: []Column{
		{"role", "text"}, {"process", "text"}, {"netns", "text"}, {"local", "text"}, {"peer", "text"}, {"opened", "count"}, {"failed", "count"},
		{"closed", "count"}, {"under 1 s", "count"}, {"mean life", "seconds"}, {"received", "bytes"}, {"sent", "bytes"}, {"handshake, mean", "seconds"}, {"handshake, longest", "seconds"},
	}}
	type key struct {
		role, local, remote string
		netns               uint64
	}
	sums := map[key]*recording.Connections{}
	var order []key
	for _, c := range b.r.Connections {
		k := key{c.Role, c.Local, c.Remote, c.Netns}
		s := sums[k]
		if s == nil {
			s = &recording.Connections{Role: c.Role, Local: c.Local, Remote: c.Remote, Netns: c.Netns, PID: c.PID, Comm: c.Comm}
			sums[k] = s
			order = append(order, k)
		}
		s.Opened, s.Failed, s.Closed, s.Short = s.Opened+c.Opened, s.Failed+c.Failed, s.Closed+c.Closed, s.Short+c.Short
		s.Lifetime, s.BytesIn, s.BytesOut = s.Lifetime+c.Lifetime, s.BytesIn+c.BytesIn, s.BytesOut+c.BytesOut
		s.Handshake, s.HandshakeMax = s.Handshake+c.Handshake, max(s.HandshakeMax, c.HandshakeMax)
	}
	sort.SliceStable(order, func(i, j int) bool {
		a, z := sums[order[i]], sums[order[j]]
		return a.Opened+a.Failed+a.Closed > z.Opened+z.Failed+z.Closed
	})
	for _, k := range order {
		c := sums[k]
		var life, shake, longest any
		if c.Closed > 0 {
			life = round(c.Lifetime / float64(c.Closed))
		}
		if c.Role == "connect" && c.Opened > 0 {
			shake, longest = round(c.Handshake/float64(c.Opened)), round(c.HandshakeMax)
		}
		t.Rows = append(t.Rows, []any{c.Role, process(c.PID, c.Comm), b.s.NetnsName(c.Netns), c.Local, c.Remote, c.Opened, c.Failed, c.Closed, c.Short,
			life, c.BytesIn, c.BytesOut, shake, longest})
	}
	return t
}
