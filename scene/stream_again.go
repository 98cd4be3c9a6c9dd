package scene

import (
	"cmp"
	"slices"
	"time"

	"snag/internal/sorting"
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
	all = sorting.Collect(slices.Values(all), func(a, b *Socket) int { return cmp.Compare(a.First().T, b.First().T) })
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
		for _, k := range all {
			if at := k.Last().T; at < window.End.Add(-endSeen) && at >= e.T.Add(-endSeen-st.Delay) && (at <= e.End || e.End == 0) {
				return k
			}
		}
	}
	return nil
}

// How long before the end of a stream its publisher's connection was last seen: what is watched is
// looked at once a second, all else every 5 s. It may be seen a little later too.
var lastSeen = []time.Duration{1500 * time.Millisecond, 6 * time.Second}

const seenAfter = time.Second

// endedWith is the only one of some connections that ended when the stream did, while others went
// on; nil where none did, or several that were there together.
func endedWith(st *Stream, all []*Socket) *Socket {
	return endedNear(st, all, seenAfter, recording.EventStreamEnded)
}

// endedBefore is the only one that ended before the stream stood still, came late or lacked frames:
// where it is served from files, these stay when its publisher leaves.
func endedBefore(st *Stream, all []*Socket) *Socket {
	if st.Row.Protocol != "hls" {
		return nil
	}
	return endedNear(st, all, 0, recording.EventStreamFreeze, recording.EventStreamLate, recording.EventStreamSkipped)
}

func endedNear(st *Stream, all []*Socket, after time.Duration, kinds ...string) *Socket {
	for _, before := range lastSeen {
		for _, e := range st.Events {
			if !slices.Contains(kinds, e.Kind) {
				continue
			}
			ended := slices.DeleteFunc(slices.Clone(all), func(k *Socket) bool {
				at := k.Last().T
				return at > e.T.Add(after) || at < e.T.Add(-before-st.Delay)
			})
			if k := lastOfOne(ended); k != nil && slices.ContainsFunc(all, func(k *Socket) bool { return k.Last().T > e.T.Add(endSeen) }) {
				return k
			}
		}
	}
	return nil
}

// lastOfOne is the last of some connections that came one after the other, as those of a publisher
// that is cut off again and again; nil where two were there together.
func lastOfOne(all []*Socket) *Socket {
	all = sorting.Collect(slices.Values(all), func(a, b *Socket) int { return cmp.Compare(a.First().T, b.First().T) })
	for i := range all {
		if i > 0 && all[i].First().T <= all[i-1].Last().T {
			return nil
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}
