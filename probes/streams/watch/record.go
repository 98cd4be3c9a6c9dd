package watch

import (
	"snag/probes/streams/figures"
	"snag/recording"
)

// place is where one stream's figures belong in a recording, and in the metrics.
func (w *Watcher) place(s *one) figures.Place {
	return figures.Place{
		Name: s.entry.Name, URL: s.shown, Protocol: s.protocol, Layer: s.entry.Layer,
		Side: s.side, Netns: w.o.NetnsID,
	}
}

// write puts a second into the recording.
func (w *Watcher) write(s *one, f figures.Second) {
	if s.writer != nil {
		s.writer.Second(f, s.figures.Info())
	}
}

// record puts events into the recording.
func (s *one) record(events []figures.Event) {
	if s.writer != nil && len(events) > 0 {
		s.writer.Events(events)
	}
}

// closeRow writes a stream's last row.
func (w *Watcher) closeRow(s *one) {
	if s.writer == nil {
		return
	}
	l := s.link0()
	err := l.err
	if l.phase == reading {
		err = nil
	}
	s.writer.Close(w.now(), s.figures.Info(), err)
	s.writer = nil
}

// finish ends what is recorded of every stream.
func (w *Watcher) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.streams {
		w.sick = w.sick || !s.signs.frames && !s.joined // it was never seen to be well
		w.closeRow(s)
	}
}

// Measured is what the watch can say of itself for the coverage.
type Measured struct {
	Since   recording.Time
	Streams int            // that are watched
	Read    int            // of which at least one frame was read
	LetIn   int            // of the others, those that a server let in and gave nothing: that too was measured
	Unread  map[string]int // why the others were not, by the reason, with how many
	Own     Own
}

// maxReasons that are told apart in Measured.Unread.
const maxReasons = 5

// Measured tells how much of what was asked for was measured.
func (w *Watcher) Measured() Measured {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := Measured{Streams: len(w.streams), Unread: map[string]int{}, Own: w.meter.own, Since: w.timeIf(w.since)}
	for _, s := range w.streams {
		if s.first != 0 || s.signs.frames {
			m.Read++
			continue
		}
		why := "it was let in and got no frame"
		l := s.link0()
		if l.phase == reading || l.ends > 0 {
			m.LetIn++
		}
		if l.err != nil {
			why = Clean(l.err.Error(), 300)
		} else if l.phase == asking {
			why = "the server at " + serverOf(s.entry.URL) + " has not answered yet"
		}
		if _, known := m.Unread[why]; !known && len(m.Unread) >= maxReasons {
			why = "other reasons"
		}
		m.Unread[why]++
	}
	return m
}
