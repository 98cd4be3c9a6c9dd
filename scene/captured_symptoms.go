package scene

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// inCaptures: who waited in vain, by captured packets. A capture is made where something hurts, so
// that one connection of a server is enough.
func inCaptures(s *Scene, r *recording.Recording) (out []Symptom) {
	for _, c := range CapturedServers(s, r) {
		out = append(out, c.symptoms(s)...)
	}
	for _, w := range ShutWays(r) {
		out = append(out, w.symptom(s, w.Way.WindowShut, w.Receiver+" offered no window"))
	}
	for _, w := range LostWays(r) {
		out = append(out, w.symptom(s, w.Way.TimedOut, fmt.Sprintf("%s went by until it sent again what %s had not acknowledged", units.Plural(int(w.Way.Timeouts), "timeout"), w.Receiver)))
	}
	return out
}

func (c *Captured) symptoms(s *Scene) (out []Symptom) {
	all := float64(c.Connections)
	say := func(name string, flows []recording.Flow, active []recording.Interval, unit, text string) {
		if len(flows) == 0 {
			return
		}
		n := float64(len(flows))
		out = append(out, onset(Symptom{Name: name, Subject: c.Subject, Active: intervals.Merge(active, 0), Amount: n, Unit: unit, Share: min(1, n/max(1, all)), Text: text}, s))
	}
	say(ConnectLatency, c.Unanswered, SpansOf(c.Unanswered), "connections",
		fmt.Sprintf("%s connections to %s got no answer: %s SYNs, over up to %s", units.OfAll(float64(len(c.Unanswered)), all), c.Server, units.Count(SYNsOf(c.Unanswered)), units.Lasting(LongestOf(c.Unanswered))))
	say(ConnectLatency, c.Late, SpansOf(c.Late), "connections",
		fmt.Sprintf("%s connections to %s were opened only after a second SYN, the slowest in %s", units.OfAll(float64(len(c.Late)), all), c.Server, units.Lasting(slowest(c.Late))))
	say(ConnectionErrors, c.Refused, SpansOf(c.Refused), "connections",
		fmt.Sprintf("%s connections to %s were refused", units.OfAll(float64(len(c.Refused)), all), c.Server))
	say(ConnectionErrors, c.Cut, SpansOf(c.Cut), "connections",
		fmt.Sprintf("%s connections were reset by %s while an answer was awaited", units.OfAll(float64(len(c.Cut)), all), c.Server))
	if len(c.Silent) > 0 {
		out = append(out, c.silentSymptom(s))
	}
	return out
}

// silentSymptom is that of requests to a server from which nothing came for long.
func (c *Captured) silentSymptom(s *Scene) Symptom {
	worst, n, sum := Worst(c.Silent), 0.0, 0.0
	for _, f := range c.Silent {
		n, sum = n+float64(f.Silent), sum+f.SilentSum
	}
	text := fmt.Sprintf("%s requests to %s had no answer for a second and more, the longest for %s", units.OfAll(n, max(n, float64(c.Asked))), c.Server, units.Lasting(worst.Length))
	if worst.Begins != "" {
		text += " (" + worst.Begins + ")"
	}
	if worst.Open {
		text += ", and never got one"
	}
	return onset(Symptom{
		Name: RequestLatency, Subject: c.Subject, Active: Silences(c.Silent), Side: "call",
		Amount: sum / max(1, n), Unit: "s", Held: sum / max(1, s.Window.Length(s.Window.End).Seconds()), Share: min(1, n/max(n, float64(c.Asked))), Text: text,
	}, s)
}

// Worst is the longest silence of some connections.
func Worst(flows []recording.Flow) (out recording.Silence) {
	for _, f := range flows {
		if f.Silence != nil && f.Silence.Length > out.Length {
			out = *f.Silence
		}
	}
	return out
}

// Silences are the longest silences of some connections.
func Silences(flows []recording.Flow) (out []recording.Interval) {
	for _, f := range flows {
		from := f.T.Add(time.Duration(f.Silence.After * 1e9))
		out = append(out, recording.Interval{Start: from, End: from.Add(time.Duration(f.Silence.Length * 1e9))})
	}
	return intervals.Merge(out, 0)
}

// Subject is the sender's end.
func (w HeldWay) Subject(s *Scene) recording.Subject {
	if k := s.SocketAt(w.Flow.Netns, "tcp", w.Sender, w.Receiver); k != nil {
		return k.Subject
	}
	return recording.Subject{Kind: recording.KindFlow, Netns: w.Flow.Netns, Proto: "tcp", Local: w.Sender, Remote: w.Receiver}
}

func (w HeldWay) symptom(s *Scene, waited float64, why string) Symptom {
	f := w.Flow
	length := f.End.Sub(f.T).Seconds()
	return onset(Symptom{
		Name: StreamFreeze, Subject: w.Subject(s), Active: SpansOf([]recording.Flow{f}), Side: "write", Amount: waited, Unit: "s", Share: min(1, waited/max(length, 0.001)),
		Text: fmt.Sprintf("%s had to wait for %s of %s: %s", w.Sender, units.Lasting(waited), units.Lasting(length), why),
	}, s)
}

// SpansOf is from when to when some connections were captured.
func SpansOf(flows []recording.Flow) (out []recording.Interval) {
	for _, f := range flows {
		out = append(out, recording.Interval{Start: f.T, End: max(f.End, f.T+1)})
	}
	return out
}

// SYNsOf counts the SYNs of some connections.
func SYNsOf(flows []recording.Flow) (n float64) {
	for _, f := range flows {
		n += float64(f.SYNs)
	}
	return n
}

// LongestOf is the longest of some connections, s.
func LongestOf(flows []recording.Flow) float64 {
	longest := 0.0
	for _, f := range flows {
		longest = max(longest, f.End.Sub(f.T).Seconds())
	}
	return longest
}

// slowest is the longest handshake of those that are whole.
func slowest(flows []recording.Flow) float64 {
	if len(flows) == 0 {
		return 0
	}
	f := slices.MaxFunc(flows, func(a, b recording.Flow) int { return cmp.Compare(*a.Handshake, *b.Handshake) })
	return *f.Handshake
}
