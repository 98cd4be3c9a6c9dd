package watch

import (
	"fmt"
	"time"

	"snag/probes/streams/figures"
	"snag/probes/streams/kin"
	"snag/probes/streams/stream"
	"snag/recording"
)

// kinship is what is known of a stream by its frames.
type kinship struct {
	member *kin.Member
	known  kin.Kin
	// Of one that is handed in and that its own connection did not name.
	unnamed string // what it is called while nothing else names it
	// Of one that snag reads: who sends it, or did.
	sender string
}

// meet makes a stream known to the others. Streams that snag reads itself are known
// by their URL's path, whatever a list calls them: that is what connections say.
func (w *Watcher) meet(s *one, j *Joined) {
	if w.crowd == nil {
		return
	}
	switch {
	case j == nil:
		s.kin.member = w.crowd.Join(kin.Named, nameOf(s.asked.URL), "")
	case j.Named:
		s.kin.member = w.crowd.Join(kin.Named, j.stream, j.publisher())
	case j.Side == recording.StreamSidePublisher:
		s.kin.member = w.crowd.Join(kin.Publisher, j.Name, j.publisher())
	default:
		s.kin.member = w.crowd.Join(kin.Reader, j.Name, "")
	}
	if j != nil && !j.Named {
		s.kin.unnamed = s.entry.Name
	}
}

func (j *Joined) publisher() string {
	if j.Side == recording.StreamSidePublisher {
		return j.Remote
	}
	return ""
}

// Frame shows a frame to whoever compares it with others'.
func (t *tap) Frame(f stream.Frame) {
	if m := t.s.kin.member; m != nil {
		m.Frame(f)
	}
	t.Sink.Frame(f)
}

// kindred looks once a second which streams are the same, and names those that had
// no name. It returns what is to be told.
func (w *Watcher) kindred(now int64) []string {
	if w.crowd == nil || now-w.compared < int64(time.Second) {
		return nil
	}
	w.compared = now
	var out []string
	for _, s := range w.streams {
		if s.kin.member != nil {
			s.kin.member.Kin(now) // one that is named may name another
		}
	}
	sent := w.sentBy(now)
	for key, s := range w.streams {
		k := &s.kin
		if k.member == nil {
			continue
		}
		k.known = k.member.Kin(now)
		k.sender = k.senderOf(sent[nameOf(s.asked.URL)])
		if k.unnamed == "" {
			continue
		}
		if w.cameBack(s) {
			out = append(out, fmt.Sprintf("%s was %s, which came back", s.entry.Name, k.known.Name))
			w.drop(key, s)
			continue
		}
		was := s.entry.Name
		if name := k.called(s); name != s.asked.Name {
			w.rename(s, name)
			if name != k.unnamed {
				out = append(out, fmt.Sprintf("%s is %s: %s", was, s.entry.Name, Why(k.known)))
			} else {
				out = append(out, fmt.Sprintf("%s is no longer known to be that: its frames are others now; it is %s", was, s.entry.Name))
			}
		}
	}
	return out
}

// cameBack reports whether a connection that ended has turned out to be of a stream
// that goes on over another of the same side: a publisher that connected again.
func (w *Watcher) cameBack(s *one) bool {
	if s.kin.known.Name == "" || s.link0().phase != away {
		return false
	}
	for _, o := range w.streams {
		if o != s && o.joined && o.side == s.side && o.kin.known.Name == s.kin.known.Name && o.link0().phase == reading {
			return true
		}
	}
	return false
}

// called is what a connection that names no stream is called by what its frames tell.
func (k *kinship) called(s *one) string {
	consumer := s.side == recording.StreamSideConsumer
	switch {
	case k.known.Name != "" && consumer:
		return k.known.Name + " → " + s.remote
	case k.known.Name != "":
		return k.known.Name
	case k.known.Of != "" && k.known.Publisher != "" && consumer:
		return k.known.Of + " → " + s.remote
	}
	return k.unnamed
}

// Why says how a stream that its connection does not name is known, or that it is not.
func Why(k kin.Kin) string {
	when := "later"
	if k.Delay < 0 {
		when = "earlier"
	}
	share := fmt.Sprintf("%d of %d runs of 8 pictures are the same, %.3f s %s", k.Matched, k.Runs, k.Delay.Abs().Seconds(), when)
	switch {
	case k.By == "itself":
		return "its connection names it"
	case k.By == "frames" && k.Name != "":
		return "its frames are that stream's: " + share
	case k.By == "frames" && k.Publisher != "":
		return "its frames are what " + k.Publisher + " publishes: " + share
	case k.By == "frames":
		return "its frames are those of " + k.Of + ": " + share
	case k.Rivals > 0:
		return fmt.Sprintf("%d streams have its frames at the same time: can't tell which of them it is", k.Rivals)
	}
	return "nothing shows its name: its connection was there before the capture, and no stream that is known has its frames"
}

// rename calls a stream by another name from now on: in the table, the metrics and
// the recording.
func (w *Watcher) rename(s *one, name string) {
	delete(w.names, w.nameKey(s.side, s.entry))
	e := s.asked
	e.Name = Clean(name, maxName)
	s.asked.Name = e.Name
	e.Name = w.unique(e, s.side)
	s.entry = e
	s.figures.Rename(e.Name)
	if s.writer != nil {
		s.writer.Rename(w.place(s))
	}
}

// known is what a recording says of a stream's name.
func (s *one) known() figures.Known {
	k := s.kin.known
	if !s.joined {
		return figures.Known{Publisher: s.kin.sender}
	}
	v := figures.Known{By: k.By, Publisher: k.Publisher, Matched: k.Matched, Runs: k.Runs}
	if s.joined && s.side == recording.StreamSidePublisher {
		v.Publisher = s.remote
	}
	if s.kin.unnamed != "" && s.entry.Name != s.kin.unnamed {
		v.Was = s.kin.unnamed
	}
	if s.kin.unnamed != "" && k.By == "" {
		v.By = "address"
	}
	return v
}
