package page

import (
	"fmt"
	"sort"

	"snag/recording"
)

// requests sums the request/response turns of the window by service and peer.
func (b *builder) requests() Table {
	t := Table{Name: "requests", Title: "Requests and answers", Note: "by service and peer, over the window; a turn ends with the last byte of the answer", Columns: []Column{
		{"role", "text"}, {"process", "text"}, {"netns", "text"}, {"local", "text"}, {"peer", "text"}, {"answered", "count"}, {"mean", "seconds"},
		{"longest", "seconds"}, {"unread, mean", "seconds"}, {"open at the end", "count"}, {"oldest open", "seconds"},
	}}
	if share := b.r.ShareOf("sockets.turns"); share < 1 {
		t.Note = fmt.Sprintf("by service and peer, counted in slices, %.0f %% of the window; what takes longer than a slice is reported as open", 100*share)
	}
	type key struct {
		role, proto, local, remote string
		netns                      uint64
	}
	sums := map[key]*recording.Turns{}
	var order []key
	for _, x := range b.r.Turns {
		k := key{x.Role, x.Proto, x.Local, x.Remote, x.Netns}
		s := sums[k]
		if s == nil {
			s = &recording.Turns{Role: x.Role, Proto: x.Proto, Local: x.Local, Remote: x.Remote, Netns: x.Netns, PID: x.PID, Comm: x.Comm}
			sums[k] = s
			order = append(order, k)
		}
		s.N, s.Sum, s.Wait, s.Max = s.N+x.N, s.Sum+x.Sum, s.Wait+x.Wait, max(s.Max, x.Max)
		s.Open, s.Oldest = x.Open, x.Oldest // running: the last one tells
	}
	sort.SliceStable(order, func(i, j int) bool { return sums[order[i]].Sum > sums[order[j]].Sum })
	for _, k := range order {
		s := sums[k]
		var mean, unread, oldest any
		if s.N > 0 {
			mean = round(s.Sum / float64(s.N))
			if s.Role == "serve" {
				unread = round(s.Wait / float64(s.N))
			}
		}
		if s.Open > 0 {
			oldest = round(s.Oldest)
		}
		t.Rows = append(t.Rows, []any{s.Role, process(s.PID, s.Comm), b.s.NetnsName(s.Netns), s.Local, s.Remote, s.N, mean, round(s.Max), unread, s.Open, oldest})
	}
	return t
}

// callErrors sums the errors that calls returned.
func (b *builder) callErrors() Table {
	t := Table{Name: "errors", Title: "Calls that returned an error", Note: "by process, call and error; the address is that of the first", Columns: []Column{
		{"count", "count"}, {"error", "text"}, {"call", "text"}, {"process", "text"}, {"netns", "text"}, {"proto", "text"}, {"local", "text"}, {"remote", "text"},
		{"first", "clock"}, {"last", "clock"},
	}}
	type key struct {
		pid         int
		call, errno string
	}
	type sum struct {
		first, last recording.CallError
		n           uint64
	}
	sums := map[key]*sum{}
	var order []key
	for _, x := range b.r.CallErrors {
		k := key{x.PID, x.Call, x.Errno}
		s := sums[k]
		if s == nil {
			s = &sum{first: x}
			sums[k] = s
			order = append(order, k)
		}
		s.n, s.last = s.n+x.N, x
	}
	sort.SliceStable(order, func(i, j int) bool { return sums[order[i]].n > sums[order[j]].n })
	for _, k := range order {
		s := sums[k]
		t.Rows = append(t.Rows, []any{s.n, k.errno, k.call, process(k.pid, s.first.Comm), b.s.NetnsName(s.first.Netns), s.first.Proto, s.first.Local, s.first.Remote,
			b.since(s.first.T), b.since(s.last.T)})
	}
	return t
}
