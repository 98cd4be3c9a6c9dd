package scene

import (
	"cmp"
	"slices"
	"time"

	"snag/recording"
)

// endSeen is how far apart the end of a publisher's connection, by looks at the sockets, and the end
// of its stream for a viewer may be.
const endSeen = 3 * time.Second

// againOf is the connection that brought a stream until it ended, or the last one that ended while
// the stream was refused, where all came one after the other: its publisher was started again, or
// another took over. Where the viewers are kept, it stands still for them meanwhile. Nil: they were
// there together, or none ended when the stream did.
func againOf(st *Stream, all []*Socket, window recording.Interval) *Socket {
	all = slices.SortedFunc(slices.Values(all), func(a, b *Socket) int { return cmp.Compare(a.First().T, b.First().T) })
	for i, next := range all[1:] {
		if next.First().T <= all[i].Last().T {
			return nil
		}
	}
	for _, g := range st.Gone(recording.EventStreamEnded, window) {
		for _, k := range all {
			if gap := g.Start.Sub(k.Last().T); gap.Abs() <= endSeen+st.Delay {
				return k
			}
		}
	}
	for _, g := range st.Gone(recording.EventStreamRefused, window) { // as it was not there just then
		for _, k := range slices.Backward(all) {
			if k.Last().T <= g.End && k.Last().T < window.End.Add(-endSeen) {
				return k
			}
		}
	}
	for _, e := range st.Events { // as of HLS, whose playlist stays when its publisher leaves
		if e.Kind != recording.EventStreamFreeze {
			continue
		}
		for _, k := range all[:len(all)-1] {
			if at := k.Last().T; at >= e.T.Add(-endSeen-st.Delay) && (at <= e.End || e.End == 0) {
				return k
			}
		}
	}
	return nil
}
