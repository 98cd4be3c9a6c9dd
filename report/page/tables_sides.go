package page

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"snag/internal/sorting"
	"snag/internal/units"
	"snag/recording"
)

// bothEnds has one row for each of the slowest requests of which both ends were
// captured, and where its time passed.
func (b *builder) bothEnds() Table {
	t := Table{Name: "both-ends", Title: "Where requests waited", Note: "captures of both ends: the slowest; the ways may each be off by the column within, what the one has too much the other has too little", Columns: []Column{
		{"at", "clock"}, {"request", "text"}, {"client", "text"}, {"server", "text"}, {"waited", "seconds"}, {"out · server · back", "parts"},
		{"way out", "seconds"}, {"server had it", "seconds"}, {"way back", "seconds"}, {"within", "seconds"}, {"network", "seconds"},
		{"upload", "seconds"}, {"download", "seconds"}, {"paused itself", "seconds"}, {"lost out", "count"}, {"lost back", "count"}, {"sent", "bytes"}, {"received", "bytes"}, {"no answer", "text"},
		{"unread", "seconds"}, {"inside", "seconds"}, {"unsent", "seconds"}, {"hops", "text"},
	}}
	rows := slices.Clone(b.r.Requests)
	sorting.StableBy(rows, func(x, y recording.Request) int { return cmp.Compare(y.Wait, x.Wait) })
	most := 0.0
	for _, q := range rows {
		most = max(most, q.Wait)
	}
	for _, q := range rows {
		var out, back, within any
		if q.Out != nil && q.Back != nil {
			out, back, within = round(*q.Out), round(*q.Back), round(q.Bound)
		}
		t.Rows = append(t.Rows, []any{b.since(q.T), q.Name, q.Client, q.Server, round(q.Wait), partsOf(q, most), out, round(q.AtServer), back, within, round(q.Network),
			round(q.Upload), round(q.Download), orNone(q.Paused), orNull(q.LostOut), orNull(q.LostBack), q.BytesOut, q.BytesIn, q.Unanswered, orMissing(q.Unread), orMissing(q.Inside), orMissing(q.Unsent), hopsOf(q)})
	}
	return t
}

// hopsOf says how long a request was on each hop between captures of its path.
func hopsOf(q recording.Request) any {
	if len(q.Hops) == 0 {
		return nil
	}
	text := q.Hops[0].From
	for _, h := range q.Hops {
		text += fmt.Sprintf(" – %s – %s", units.Seconds(time.Duration(h.Network*1e9)), h.To)
	}
	return text
}

// partsOf draws a wait as its parts: shares of the longest wait of all, in per mille:
// before, at the server, after; where the ways are not told apart the network's stands
// behind.
func partsOf(q recording.Request, most float64) string {
	share := func(seconds float64) int { return int(1000*seconds/most + 0.5) }
	if most == 0 {
		return ""
	}
	out, back := 0.0, q.Network
	if q.Out != nil && q.Back != nil {
		out, back = *q.Out, *q.Back
	}
	return fmt.Sprintf("%d %d %d", share(out), share(q.AtServer), share(back))
}

func orNone(seconds float64) any {
	if seconds == 0 {
		return nil
	}
	return round(seconds)
}

func orMissing(seconds *float64) any {
	if seconds == nil {
		return nil
	}
	return round(*seconds)
}

// waits is the distribution of all requests of which both ends were captured.
func (b *builder) waits() Table {
	t := Table{Name: "waits", Title: "How long requests waited", Note: "captures of both ends: all requests by how long each part took", Columns: []Column{
		{"from", "seconds"}, {"to", "seconds"}, {"waited", "count"}, {"", "parts"}, {"server had it", "count"}, {"on the network", "count"},
	}}
	var wait, server, network []uint64
	for _, row := range b.r.RequestSeconds {
		if !row.Connect {
			wait, server, network = addUp(wait, row.Hist), addUp(server, row.ServerHist), addUp(network, row.NetworkHist)
		}
	}
	at := func(hist []uint64, i int) uint64 {
		if i < len(hist) {
			return hist[i]
		}
		return 0
	}
	most := max(1, slices.Max(append([]uint64{0}, wait...)))
	for i := range max(len(wait), len(server), len(network)) {
		w, s, n := at(wait, i), at(server, i), at(network, i)
		if w+s+n == 0 {
			continue
		}
		from := recording.TurnBound(i)
		if i == 0 {
			from = 0
		}
		t.Rows = append(t.Rows, []any{from, recording.TurnBound(i + 1), w, fmt.Sprint((1000*w + most/2) / most), s, n})
	}
	return t
}

func addUp(to, from []uint64) []uint64 {
	for len(to) < len(from) {
		to = append(to, 0)
	}
	for i, n := range from {
		to[i] += n
	}
	return to
}
