package mp4

import (
	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// keep keeps the bytes of the key picture that is wanted: b are the next ones of the file. Samples of
// a fragment do not overlap, and are in the order of their ends.
func (r *Reader) keep(b []byte, arrival int64) {
	to := r.pos + uint64(len(b))
	for _, s := range r.frames[r.next:] {
		start := s.end - uint64(s.frame.Size)
		if start >= to {
			return
		}
		from, until := max(start, r.pos), min(s.end, to)
		if s.frame.Kind != stream.Video || !s.frame.Key || from >= until {
			continue
		}
		if from == start {
			r.picture.Begin(r.Keys)
		}
		r.picture.Add(b[from-r.pos : until-r.pos])
		if until == s.end {
			r.hand(r.picture.Take(), arrival)
		}
	}
}

// hand hands on a key picture, with its parameter sets.
func (r *Reader) hand(b []byte, arrival int64) {
	for i := range r.tracks {
		t := &r.tracks[i]
		if b == nil || t.Kind != stream.Video || t.length == 0 {
			continue
		}
		if b := codec.ByteStream(t.sets, b, t.length); b != nil {
			r.Keys.Key(t.Codec, b, arrival)
		}
	}
}
