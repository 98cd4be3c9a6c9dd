package suspects

import (
	"fmt"
	"strings"

	"snag/recording"
	"snag/scene"
)

// related are the parties of a stream's fault besides its subject: the stream, and
// the ends of the connection that it is at.
func (f *faulty) related() []recording.Subject {
	out := []recording.Subject{f.stream.Subject}
	if f.link < len(f.stream.Way) {
		l := f.stream.Way[f.link]
		for _, k := range []*scene.Socket{l.From, l.To} {
			if k != nil {
				out = append(out, k.Subject)
			}
		}
		for _, p := range []*scene.Process{l.Sender(), l.Receiver()} {
			if p != nil {
				out = append(out, p.Subject)
			}
		}
	}
	return out
}

// finding is the common part of what a suspect says of a fault.
func (f *faulty) finding(s *scene.Scene, sub recording.Subject) Finding {
	return Finding{Subject: sub, Active: mergeIntervals(f.spans, 0), Related: f.related(), Harm: f.harm(s.Window)}
}

// frames says how the stream came back, as weak evidence: an encoder, a server and a
// player that were stopped, and a dead path, leave the same trace at the player.
func (f *faulty) frames() (Evidence, bool) {
	if f.slow || !f.held && f.burst == 0 {
		return Evidence{}, false
	}
	e := Evidence{Side: For, Grade: Weak, Value: f.step, Unit: "s", Source: "stream-freeze dts_step, burst", Origin: "frames"}
	switch {
	case f.step >= 1 && f.burst < fewBurst:
		e.Text = fmt.Sprintf("its clock stepped by %s and nothing came in a burst: the frames between were never made, or thrown away", lasting(f.step))
	case f.burst >= fewBurst:
		e.Text = fmt.Sprintf("%s frames came at once afterwards, its clock stepped by %s: what was made meanwhile waited somewhere", count(f.burst), lasting(f.step))
	default:
		return Evidence{}, false
	}
	return e, true
}

// fewBurst frames at once are what one read of a busy reader brings.
const fewBurst = 10

// nothingToSend says of a sender that it wrote nothing.
func (m reading) nothingToSend() string {
	return fmt.Sprintf("nothing waited at its socket (Send-Q > 0 %s) and it wrote %s in %s (usually %s/s)", m.lookedAt(), size(m.written), lasting(m.seconds), size(m.usualWritten))
}

// nothingCame says of a receiver that it read all there was.
func (m reading) nothingCame() string {
	return fmt.Sprintf("%s read all that came (Recv-Q > 0 %s): %s in %s", m.name(), m.lookedAt(), size(m.received), lasting(m.seconds))
}

// name is the process that holds the socket, else its address.
func (m reading) name() string {
	if m.socket == nil {
		return "the other end"
	}
	if p := m.socket.Owner(); p != nil {
		return p.Subject.Name
	}
	return m.socket.First().Local
}

// cantTell is a finding on what the player alone shows: the frames stopped, and
// what sent them was not seen.
func (f *faulty) cantTell(s *scene.Scene, who string) Finding {
	end := s.Window.End
	out := f.finding(s, f.stream.Subject)
	out.Text = fmt.Sprintf("%s; whether %s, can't be told from here: %s", f.what(end), who, f.reason)
	e := Evidence{Side: For, Grade: Strong, Value: f.seconds(end), Unit: "s", Source: "stream-freeze, stream-slow", Origin: "frames", Text: f.what(end)}
	if came, ok := f.frames(); ok {
		e.Text += "; " + came.Text
	}
	out.Evidence = []Evidence{e, {Side: Missing, Source: "ss -tnpi at the ingest", Text: f.reason}}
	out.Next = f.next()
	return out
}

// next is what would tell where a stream stands whose way was not seen to its source.
func (f *faulty) next() string {
	url := f.stream.Row.URL
	if url == "" {
		url = "URL"
	}
	return fmt.Sprintf("on the host that takes the stream in: snag find --stream %s; from here: snag watch --layers ingest=…,edge=%s", url, url)
}

// whoSends is where a stream of which only the end is seen comes from.
func whoSends(l scene.Link) string {
	switch {
	case l.From != nil && l.Sender() != nil:
		return l.Sender().Subject.Name
	case l.To != nil:
		return l.To.First().Remote
	}
	return "its sender"
}

// at is a connection in words: its ends' addresses.
func addresses(l scene.Link) string {
	k := l.From
	if k == nil {
		k = l.To
	}
	if k == nil {
		return "its connection"
	}
	f := k.First()
	from, to := f.Local, f.Remote
	if l.From == nil {
		from, to = to, from
	}
	return strings.TrimSpace(from + " → " + to)
}
