package watch

import (
	"snag/probes/streams/figures"
	"snag/recording"
)

// place is where one stream's figures belong in a recording, and in the metrics.
func (w *Watcher) place(s *one) figures.Place {
	return figures.Place{
		Name: s.entry.Name, URL: s.shown, Protocol: s.protocol, Layer: s.entry.Layer,
		Side: s.side, Netns: w.o.NetnsID, Known: s.known(),
	}
}

// write puts a second into the recordings.
func (w *Watcher) write(s *one, f figures.Second) {
	for _, to := range s.writers() {
		to.Know(s.known())
		to.Second(f, s.figures.Info())
	}
}

// record puts events into the recordings.
func (s *one) record(events []figures.Event) {
	if len(events) == 0 {
		return
	}
	for _, to := range s.writers() {
		to.Events(events)
	}
}

// writers are those of the recordings that are being written.
func (s *one) writers() []*figures.Writer {
	both := [2]*figures.Writer{s.writer, s.beside}
	switch {
	case s.writer == nil && s.beside == nil:
		return nil
	case s.writer == nil:
		return both[1:]
	case s.beside == nil:
		return both[:1]
	}
	return both[:]
}

// closeRow writes a stream's last row.
func (w *Watcher) closeRow(s *one) {
	w.closeBeside(s)
	if s.writer == nil {
		return
	}
	s.writer.Close(w.now(), s.figures.Info(), s.lastError())
	s.writer = nil
}

func (w *Watcher) closeBeside(s *one) {
	if s.beside == nil {
		return
	}
	s.beside.Close(w.now(), s.figures.Info(), s.lastError())
	s.beside = nil
}

// lastError is why the stream is not being read; nil where it is.
func (s *one) lastError() error {
	if l := s.link0(); l.phase != reading {
		return l.err
	}
	return nil
}

// finish ends what is recorded of every stream.
func (w *Watcher) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.streams {
		// It was never seen to be well; a recording can't be.
		w.sick = w.sick || !s.signs.frames && !s.joined && !s.link0().over
		w.closeRow(s)
	}
}

// Measured is what the watch can say of itself for the coverage.
type Measured struct {
	Since   recording.Time
	Streams int            // that are watched
	Read    int            // of which at least one frame was read
	LetIn   int            // of the others, those that a server let in, or left without an answer, and gave nothing: that too was measured
	Unread  map[string]int // why the others were not, by the reason, with how many
	Own     Own
}

// maxReasons that are told apart in Measured.Unread.
const maxReasons = 5

// Measured reports how much of what was asked for was measured.
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
		if l.phase == reading || l.ends > 0 || l.phase == asking && l.err == nil && l.asked != 0 && w.now()-l.asked > unanswered {
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
