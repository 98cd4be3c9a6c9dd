package scene

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// TurnedAway is a listener that ends connections within a second, with a few bytes of its own
// and before the client has said a word, while it talks with others: it says that it won't have
// them, in whatever protocol.
type TurnedAway struct {
	Subject recording.Subject
	N, Of   float64 // connections that it turned away, of those that came
	Bytes   float64 // of its own, on average
	Active  []recording.Interval
}

const (
	// fewWords are what a refusal takes. A greeting and the client's leave look alike to
	// whoever does not know the protocol: checks of health read one a second at the most.
	fewWords     = 512
	checksSecond = 2
)

// TurnsAway are the listeners that do so.
func TurnsAway(s *Scene, r *recording.Recording) (out []TurnedAway) {
	by, came := map[NodeID]*TurnedAway{}, map[NodeID]float64{}
	bytes, talks := map[NodeID]float64{}, map[NodeID]bool{}
	var order []NodeID
	for _, c := range r.Connections {
		if c.Role != "accept" {
			continue
		}
		l := s.ListenerOn(c.Netns, c.Local)
		if l == nil {
			continue
		}
		came[l.ID] += float64(c.Opened)
		// A FIN takes a place in the sequence: some kernels' counts have it.
		if silent := c.Closed > 0 && c.BytesIn <= c.Closed; !silent {
			talks[l.ID] = talks[l.ID] || c.BytesIn > 0
			continue
		}
		if c.Short < c.Closed || c.BytesOut == 0 || c.BytesOut > fewWords*c.Closed || float64(c.Closed) < checksSecond {
			continue
		}
		if by[l.ID] == nil {
			by[l.ID] = &TurnedAway{Subject: l.Subject}
			order = append(order, l.ID)
		}
		t := by[l.ID]
		t.N, bytes[l.ID] = t.N+float64(c.Closed), bytes[l.ID]+float64(c.BytesOut)
		t.Active = append(t.Active, second(c.T))
	}
	for _, k := range s.Sockets { // that stay and were told something
		if k.Listener != nil && by[k.Listener.ID] != nil {
			if last := k.Last(); last.TCP != nil && last.TCP.BytesReceived > 1 {
				talks[k.Listener.ID] = true
			}
		}
	}
	for _, id := range order {
		t := by[id]
		if t.N < failedFloor || !talks[id] {
			continue
		}
		t.Of, t.Bytes = max(t.N, came[id]), bytes[id]/t.N
		t.Active = intervals.Merge(t.Active, 0)
		out = append(out, *t)
	}
	return out
}

// turnedAway: connections that a service ends before the client has said a word.
func turnedAway(s *Scene, r *recording.Recording) (out []Symptom) {
	for _, t := range TurnsAway(s, r) {
		out = append(out, onset(Symptom{
			Name: ConnectionErrors, Subject: t.Subject, Active: t.Active, Amount: t.N, Unit: "connections", Severity: t.N / t.Of,
			Text: fmt.Sprintf("it ended %s of %s connections within a second, after %s of its own and not a byte of the client's", units.Count(t.N), units.Count(t.Of), units.Bytes(t.Bytes)),
		}, s))
	}
	return out
}
