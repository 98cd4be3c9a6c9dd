package figures

import (
	"snag/probes/streams/stream"
)

// secondSums is what Second is made of, while it is running.
type secondSums struct {
	from  int64 // 0: no Tick yet
	kind  [2]kindSums
	gap   int64
	doubt bool
	apart bool // audio and video had no common origin in some of it

	driftLeast, driftWorst, offLeast int64
	drifts                           int

	freezes, jumps, back, missing int
}

type kindSums struct {
	frames, keys int
	bytes        int64
	off          int64 // least of arrival less DTS, as it was told
	opening      bool  // some of them are of the track's opening
}

// count takes a frame into its kind's sums; before the track moves.
func (m *Meter) count(f stream.Frame) {
	k := &m.sec.kind[f.Kind]
	if k.frames == 0 {
		k.off = f.Arrival - f.DTS
	}
	k.frames++
	k.bytes += int64(f.Size)
	m.total.Frames[f.Kind]++
	m.total.Bytes[f.Kind] += uint64(f.Size)
	if f.Key && f.Kind == stream.Video {
		k.keys++
		m.total.Keys++
	}
	k.off = min(k.off, f.Arrival-f.DTS)
}

// gapEnded takes a gap between two frames.
func (s *secondSums) gapEnded(from, to int64, l *lateness) {
	if to-from > s.gap {
		s.gap = to - from
		s.doubt = s.doubt || l.within(from, to) > (to-from)/2
	}
}

func (s *secondSums) drifted(d, off int64) {
	if s.drifts == 0 {
		s.driftLeast, s.driftWorst, s.offLeast = d, d, off
	}
	s.drifts++
	s.driftLeast, s.driftWorst, s.offLeast = min(s.driftLeast, d), max(s.driftWorst, d), min(s.offLeast, off)
}

// begin leaves behind what was measured between frames of another connection or
// kind.
func (s *secondSums) begin() { s.gap, s.drifts = 0, 0 }
