package streams

import (
	"fmt"
	"slices"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// consumerInCapture is a connection whose receiver shut its window on what a server
// sends, with how the server's other connections fared meanwhile. Which thread writes
// where a capture does not tell.
type consumerInCapture struct {
	socket          *scene.Socket
	active          []recording.Interval
	shut            float64 // s
	frozen, flowing []*scene.Socket
	ingest          *scene.Socket // whose data was not taken either
}

// consumersInCapture finds them: shut for two seconds and more, at a server that sends
// to others by the same address and port.
func consumersInCapture(s *scene.Scene, r *recording.Recording) (out []*consumerInCapture) {
	by := map[string][]*scene.Socket{}
	for _, k := range s.Sockets {
		if k.First().Wire && len(measure.TCPRowsOf(k)) >= 2 {
			by[senderOf(k)] = append(by[senderOf(k)], k)
		}
	}
	for _, k := range s.Sockets {
		if !k.First().Wire {
			continue
		}
		c := &consumerInCapture{socket: k}
		for _, i := range shutTimes(k) {
			if i.Length(s.Window.End) >= stuckFor {
				c.active = append(c.active, i)
			}
		}
		if len(c.active) == 0 {
			continue
		}
		c.shut = intervals.Seconds(c.active, s.Window.End)
		for _, o := range by[senderOf(k)] {
			if o != k && stoodMeanwhile(r, o, c.active) {
				c.compare(o)
			}
		}
		for _, o := range s.Sockets {
			if o.First().Wire && o.First().Netns == k.First().Netns && senderOf(o) != senderOf(k) && recording.Host(o.First().Remote) != recording.Host(k.First().Remote) && c.meets(shutTimes(o)) {
				c.ingest = o
			}
		}
		if len(c.frozen)+len(c.flowing) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// stoodMeanwhile reports whether a captured connection was there all that time: one of before or after
// was not held up.
func stoodMeanwhile(r *recording.Recording, k *scene.Socket, active []recording.Interval) bool {
	at, first, last := k.First(), active[0].Start, active[len(active)-1].End
	return slices.ContainsFunc(r.Flows, func(f recording.Flow) bool {
		ends := [2]string{scene.Address(f.Server), scene.Address(f.Client)}
		mine := ends == [2]string{at.Local, at.Remote} || ends == [2]string{at.Remote, at.Local}
		return f.Netns == at.Netns && mine && f.T <= first && (f.End >= last || f.Closed == "open")
	})
}

func senderOf(k *scene.Socket) string { return fmt.Sprint(k.First().Netns, " ", k.First().Local) }

// shutTimes are the whole seconds in which a captured sender was told to wait. Those in
// which the window opened or shut had time for other things.
func shutTimes(k *scene.Socket) []recording.Interval {
	rows := measure.TCPRowsOf(k)
	var out []recording.Interval
	for i := 1; i < len(rows); i++ {
		a, b := rows[i-1], rows[i]
		if d := b.T.Sub(a.T).Seconds(); d > 0.1 && b.TCP.RwndLimited-a.TCP.RwndLimited >= 0.95*d && b.TCP.BytesAcked == a.TCP.BytesAcked {
			out = append(out, recording.Interval{Start: a.T, End: b.T})
		}
	}
	return intervals.Merge(out, 0)
}

// aRow is the time that a row of a capture tells of: where one is missing, nothing went
// over the connection.
const aRow = time.Second

// compare reports whether another connection of the server got anything in those seconds.
func (c *consumerInCapture) compare(o *scene.Socket) {
	var inside, outside, beside float64
	rows := measure.TCPRowsOf(o)
	for i := 1; i < len(rows); i++ {
		a, b := rows[i-1], rows[i]
		n := float64(b.TCP.BytesAcked) - float64(a.TCP.BytesAcked)
		from := max(a.T, b.T.Add(-aRow))
		if slices.ContainsFunc(c.active, func(span recording.Interval) bool { return span.Start <= from && b.T <= span.End }) {
			inside += n
			continue
		}
		outside += n
		beside += b.T.Sub(from).Seconds()
	}
	switch {
	case beside < 1 || outside <= 0: // it has nothing to compare with
	case inside/c.shut < 0.1*outside/beside:
		c.frozen = append(c.frozen, o)
	default:
		c.flowing = append(c.flowing, o)
	}
}

// meets reports whether these intervals cover half of the time that it was shut.
func (c *consumerInCapture) meets(other []recording.Interval) bool {
	return intervals.Overlap(c.active, other, 0).Seconds() >= 0.5*c.shut
}

func slowInCapture(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	for _, c := range consumersInCapture(s, r) {
		out = append(out, c.finding(s))
	}
	return out
}

func (c *consumerInCapture) finding(s *scene.Scene) suspect.Finding {
	at := c.socket.First()
	f := suspect.Finding{Subject: c.socket.Subject, Active: c.active,
		Text:   fmt.Sprintf("%s did not read for %s in all, and %d other connections of %s got nothing meanwhile", at.Remote, units.Lasting(c.shut), len(c.frozen), at.Local),
		Remedy: suspect.Remedy{Program: fmt.Sprintf("The program behind %s: a bounded queue for each consumer, writes that do not block, TCP_USER_TIMEOUT (5 s).", at.Local)},
		Next:   fmt.Sprintf("on %s: snag find; or for i in 1 2 3; do cat /proc/PID/task/*/syscall; sleep 1; done", recording.Host(at.Local)),
	}
	f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: c.shut, Unit: "s", Source: source.File(measure.Captured + ": windows"), Origin: "the consumer's window",
		Text: fmt.Sprintf("%s offered no more window for %s in all: it did not read", at.Remote, units.Lasting(c.shut))})
	n := float64(len(c.frozen) + len(c.flowing))
	others := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(len(c.frozen)), Unit: "connections", Source: source.File(measure.Captured + ": what the others got"), Origin: "the other connections",
		Text: fmt.Sprintf("%s other connections of %s got nothing in that time, and were served before or after", units.OfAll(float64(len(c.frozen)), n), at.Local)}
	switch {
	case len(c.flowing) >= max(1, len(c.frozen)):
		others.Side, others.Grade = suspect.Against, suspect.Decisive
		others.Text = fmt.Sprintf("%s other connections of %s were served all along: it does not block on this one", units.OfAll(float64(len(c.flowing)), n), at.Local)
		f.Text = fmt.Sprintf("%s did not read for %s in all, and delayed no other consumer", at.Remote, units.Lasting(c.shut))
	case len(c.flowing) > 0:
		others.Grade = suspect.Weak
	}
	f.Evidence = append(f.Evidence, others)
	if c.ingest != nil && others.Side == suspect.For {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Source: source.File(measure.Captured + ": windows"), Origin: "ingest",
			Text: fmt.Sprintf("%s took nothing from %s in that time either: what feeds the consumers was not read", c.ingest.First().Remote, c.ingest.First().Local)})
		f.Related = append(f.Related, c.ingest.Subject)
	}
	if others.Side == suspect.For && len(c.frozen) > 0 {
		f.Harm = suspect.Harm{Symptom: scene.StreamFreeze, Amount: c.shut * float64(len(c.frozen)), Of: s.Window.Length(s.Window.End).Seconds() * float64(len(c.frozen)), Unit: "s",
			Text: fmt.Sprintf("%d consumers frozen for %s each", len(c.frozen), units.Lasting(c.shut))}
	}
	for _, o := range c.frozen[:min(len(c.frozen), measure.MostRelated)] {
		f.Related = append(f.Related, o.Subject)
	}
	f.Related = slices.Compact(f.Related)
	return f
}
