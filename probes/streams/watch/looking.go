package watch

import (
	"snag/probes/streams/stream"
	"snag/recording"
)

// newEye is nil where no pictures are looked at: of what somebody else reads there are only heads.
func (w *Watcher) newEye() *eye {
	if w.o.Pictures == nil {
		return nil
	}
	return &eye{turns: turns{slots: w.slots}, p: w.o.Pictures}
}

// keys is who takes the reader's key pictures; nil: nobody.
func (s *one) keys() stream.Keys {
	if s.eye == nil { // and not a nil eye
		return nil
	}
	return s.eye
}

// lookAtPictures asks for pictures of the streams that are being read, of some at a time, and gives
// what a person must know.
func (w *Watcher) lookAtPictures(now int64) (notes []string) {
	if w.o.Pictures == nil {
		return nil
	}
	open := 0
	for _, s := range w.streams {
		if s.eye != nil && s.eye.open() {
			open++
		}
	}
	for _, s := range w.streams { // in no order, so that each has its turn
		if s.eye == nil {
			continue
		}
		if l := s.link0(); l.phase != reading || !s.signs.live {
			s.eye.leave(now)
			continue
		}
		asked, note := s.eye.turn(now, open < mostWanted, w.o.Pictures.Every, longestGOP, noKey)
		if asked {
			open++
		}
		if note != "" {
			notes = append(notes, s.entry.Name+": its picture is not measured: "+note)
		}
	}
	return notes
}

// pictureState is the state that an event about a picture stands for; OK for none.
func pictureState(kind string) State {
	switch kind {
	case recording.EventStreamGarbled:
		return GarbledPicture
	case recording.EventStreamBlack:
		return BlackPicture
	case recording.EventStreamPlain:
		return PlainPicture
	case recording.EventStreamStill:
		return StillPicture
	}
	return OK
}
