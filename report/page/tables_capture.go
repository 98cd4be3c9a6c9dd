package page

import (
	"cmp"
	"slices"

	"snag/internal/sorting"
	"snag/recording"
	"snag/scene"
)

// conversations has one row for each connection and pair of UDP ends of a capture, those on which
// somebody waited longest first.
func (b *builder) conversations() Table {
	t := Table{Name: "conversations", Title: "What was captured", Note: "a row for each connection and pair of UDP ends; waits are for the first byte of an answer; again is what was sent again, of both directions", Columns: []Column{
		{"at", "clock"}, {"lasted", "seconds"}, {"proto", "text"}, {"client", "text"}, {"server", "text"}, {"waited in vain", "seconds"}, {"opened in", "seconds"}, {"SYNs", "count"},
		{"requests", "count"}, {"mean wait", "seconds"}, {"longest wait", "seconds"}, {"sent", "bytes"}, {"received", "bytes"}, {"again", "count"}, {"needless", "count"}, {"out of order", "count"},
		{"windows shut", "count"}, {"shut for", "seconds"}, {"round trip", "seconds"}, {"ended", "text"},
	}}
	flows := slices.Clone(b.r.Flows)
	sorting.StableBy(flows, func(x, y recording.Flow) int {
		return cmp.Or(cmp.Compare(scene.WaitedOn(y), scene.WaitedOn(x)), cmp.Compare(y.Up.Bytes+y.Down.Bytes, x.Up.Bytes+x.Down.Bytes))
	})
	for _, f := range flows {
		var mean any
		if f.Asked > 0 {
			mean = round(f.WaitSum / float64(f.Asked))
		}
		longest := f.WaitMax
		if f.Silence != nil {
			longest = max(longest, f.Silence.Length)
		}
		t.Rows = append(t.Rows, []any{b.since(f.T), round(f.End.Sub(f.T).Seconds()), f.Proto, f.Client, f.Server, orNone(scene.WaitedOn(f)), orMissing(f.Handshake), orNull(f.SYNs),
			orNull(int(f.Asked)), mean, orNone(longest), f.Up.Bytes, f.Down.Bytes, orNull(int(f.Up.Resent + f.Down.Resent)), orNull(int(f.Up.Needless + f.Down.Needless)), orNull(int(f.Up.Reordered + f.Down.Reordered)),
			orNull(int(f.Up.Shut + f.Down.Shut)), orNone(f.Up.WindowShut + f.Down.WindowShut), orMissing(roundTrip(f)), f.Closed})
	}
	return t
}

// roundTrip is the mean of both parts, from the capture to either end and back.
func roundTrip(f recording.Flow) *float64 {
	up, down := f.Up.RTT, f.Down.RTT
	switch {
	case up == nil:
		return down
	case down == nil:
		return up
	}
	sum := *up + *down
	return &sum
}
