package streams

import (
	"fmt"
	"math"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
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
func (f *faulty) finding(s *scene.Scene, sub recording.Subject) suspect.Finding {
	out := suspect.Finding{Subject: sub, Active: f.active(), Related: f.related(), Harm: f.harm(s.Window)}
	out.NotBy = notForCPU(s.Process(sub.PID), out.Active, s.Window)
	if f.alike > 0 {
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: float64(f.alike), Unit: "freezes", Source: source.Of("stream-freeze", source.Freezes), Origin: "samples",
			Text: fmt.Sprintf("%d of its %s lie between two samples of the sockets, and are taken to be as the others", f.alike, units.Plural(len(f.felt), "freeze"))})
	}
	return out
}

// active is when it acted: in the stream's freezes, and before, since bytes wait that
// were not taken: what buffers hold, the viewer sees later.
func (f *faulty) active() []recording.Interval {
	var k *scene.Socket
	var waits func(recording.Socket) bool
	switch {
	case f.at == atServer && !f.holds || f.at == atPlayer || f.at == atWatcher:
		k, waits = f.to.socket, func(row recording.Socket) bool { return row.RecvQ >= f.to.least }
	case f.at == atSlowLink || f.at == atDeadLink:
		k, waits = f.from.socket, func(row recording.Socket) bool { return row.SendQ >= f.from.least }
	}
	out := append([]recording.Interval(nil), f.spans...)
	if k != nil {
		for i := range out {
			out[i].Start = min(out[i].Start, waitedSince(k, out[i].Start, waits))
		}
	}
	switch { // it may have acted before the stream suffered
	case f.at == atDeadLink && k != nil:
		out = append(out, swallowing(k, f.from.least)...)
	case f.at == atSlowLink && k != nil:
		out = append(out, queueing(k, f.from.least)...)
	}
	return intervals.Merge(out, 0)
}

// waitedSince is the first of the rows up to a time, without a break, at which bytes
// waited; a time far off where there was none.
func waitedSince(k *scene.Socket, at recording.Time, waits func(recording.Socket) bool) recording.Time {
	since := recording.Time(math.MaxInt64)
	for i := len(k.Rows) - 1; i >= 0; i-- {
		switch row := k.Rows[i]; {
		case row.T > at.Add(fromTick):
		case !waits(row):
			return since
		default:
			since = row.T
		}
	}
	return since
}

// frames says how the stream came back, as weak evidence: an encoder, a server and a
// player that were stopped, and a dead path, leave the same trace at the player.
func (f *faulty) frames() (suspect.Evidence, bool) {
	if f.slow || !f.held && f.burst == 0 {
		return suspect.Evidence{}, false
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: f.step, Unit: "s", Source: source.Of("stream-freeze dts_step, burst", source.Freezes), Origin: "frames"}
	switch {
	case f.step >= 1 && f.burst < fewBurst:
		e.Text = fmt.Sprintf("its clock stepped by %s and nothing came in a burst: the frames between were never made, or thrown away", units.Lasting(f.step))
	case f.burst >= fewBurst:
		e.Text = fmt.Sprintf("%s frames came at once afterwards, its clock stepped by %s: what was made meanwhile waited somewhere", units.Count(f.burst), units.Lasting(f.step))
	default:
		return suspect.Evidence{}, false
	}
	return e, true
}

// fewBurst frames at once are what one read of a busy reader brings.
const fewBurst = 10

// nothingToSend says of a sender that it wrote nothing.
func (m reading) nothingToSend() string {
	return fmt.Sprintf("nothing waited at its socket (bytes in Send-Q %s) and it wrote %s in %s (usually %s/s)", m.lookedAt(), units.Bytes(m.written), units.Lasting(m.seconds), units.Bytes(m.usualWritten))
}

// nothingCame says of a receiver that it read all there was.
func (m reading) nothingCame() string {
	return fmt.Sprintf("%s read all that came (bytes in Recv-Q %s): %s in %s", m.name(), m.lookedAt(), units.Bytes(m.received), units.Lasting(m.seconds))
}

// name is the process that holds the socket, else its address.
func (m reading) name() string {
	if m.socket == nil {
		return "the other end"
	}
	if p := m.socket.Owner(); p != nil {
		return measure.ProgramOf(p.Subject)
	}
	return m.socket.First().Local
}

// cantTell is a finding on what the player alone shows: the frames stopped, and
// what sent them was not seen.
func (f *faulty) cantTell(s *scene.Scene, r *recording.Recording, who string) suspect.Finding {
	end := s.Window.End
	out := f.finding(s, f.stream.Subject)
	out.Text = fmt.Sprintf("%s; whether %s, can't be seen from here: %s", f.what(end), who, f.reason)
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: f.seconds(end), Unit: "s", Source: source.Of("stream-freeze, stream-slow", source.Freezes, source.Slow), Origin: "frames", Text: f.what(end)}
	if came, ok := f.frames(); ok {
		e.Text += "; " + came.Text
	}
	out.Evidence = []suspect.Evidence{e, {Side: suspect.Missing, Source: source.Of("ss -tnpi at the ingest"), Text: f.reason}}
	out.Next = f.next(s, r)
	return out
}
