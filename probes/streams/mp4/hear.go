package mp4

import (
	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// hear keeps the bytes of audio that is wanted: b are the next ones of the file.
func (r *Reader) hear(b []byte, arrival int64) {
	t := r.audio()
	if t == nil {
		return
	}
	to := r.pos + uint64(len(b))
	for _, s := range r.frames[r.next:] {
		start := s.end - uint64(s.frame.Size)
		if start >= to {
			return
		}
		from, until := max(start, r.pos), min(s.end, to)
		if s.frame.Kind != stream.Audio || from >= until {
			continue
		}
		if from == start {
			r.beginAudio(t, s.frame)
		}
		r.second.Add(b[from-r.pos : until-r.pos])
		if until == s.end {
			r.second.End(r.Sounds, stream.Sound{Codec: t.Codec}, s.frame.DTS, r.step, arrival)
		}
	}
}

// audio is the track whose audio can be handed on; nil for none.
func (r *Reader) audio() *track {
	for i := range r.tracks {
		t := &r.tracks[i]
		if t.Kind != stream.Audio || t.sealed {
			continue
		}
		switch t.Codec {
		case codec.AAC, codec.MP3, codec.AC3, codec.EAC3:
			return t
		}
	}
	return nil
}

// beginAudio begins a frame: one of AAC gets a header.
func (r *Reader) beginAudio(t *track, f stream.Frame) {
	if step := f.DTS - r.heard; step > 0 && step < 1e9 {
		r.step = step
	}
	r.heard = f.DTS
	if !r.second.Begin(r.Sounds, f.DTS) || t.Codec != codec.AAC {
		return
	}
	head, ok := t.adts.Header(f.Size)
	if !ok {
		r.second.Drop()
		return
	}
	r.second.Add(head[:])
}
