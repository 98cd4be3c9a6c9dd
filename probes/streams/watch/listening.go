package watch

import "snag/probes/streams/stream"

// newEar is nil where nobody listens.
func (w *Watcher) newEar() *ear {
	if w.o.Pictures == nil || w.o.Pictures.Listen == nil {
		return nil
	}
	return &ear{turns: turns{slots: w.slots}, p: w.o.Pictures}
}

// sounds is who takes the reader's audio; nil: nobody.
func (s *one) sounds() stream.Sounds {
	if s.ear == nil { // and not a nil ear
		return nil
	}
	return s.ear
}

// listen asks for audio of the streams that are being read and have some, of some at a time, and
// gives what a person must know.
func (w *Watcher) listen(now int64) (notes []string) {
	open := 0
	for _, s := range w.streams {
		if s.ear != nil && s.ear.open() {
			open++
		}
	}
	for _, s := range w.streams { // in no order, so that each has its turn
		if s.ear == nil {
			continue
		}
		l := s.link0()
		if l.phase != reading || !s.signs.live || s.signs.silent != 0 || l.params[stream.Audio].Codec == "" {
			s.ear.leave(now)
			continue
		}
		asked, note := s.ear.turn(now, open < mostWanted, w.o.Pictures.Every, longestSoundWait, noSound)
		if asked {
			open++
		}
		if note != "" {
			notes = append(notes, s.entry.Name+": whether its audio is silent is not measured: "+note)
		}
	}
	return notes
}
