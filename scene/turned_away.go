package scene

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// TurnedAway are the connections of a listener that it ended within a second, before the client
// had sent a byte: at a limit, or as it does not serve that client. A client that leaves at once
// (a health check) is none.
type TurnedAway struct {
	Listener recording.Subject
	N, Of    float64 // of those that were opened
	Answered float64 // requests of others meanwhile
	// Kept are the connections of others that were there all the time, if none came or went of them.
	Kept int
	// Clients are addresses of which some were turned away, Known those of which others stayed or
	// were served.
	Clients, Known int
	Active         []recording.Interval
}

// fewKept connections that stay are what a limit leaves to others.
const fewKept = 10

// TurnedAways are those of listeners that serve others meanwhile, or keep the connections of others
// on which nobody asks anything. A service that says what it has to say and hangs up (daytime, RFC
// 867) turns nobody away, and keeps nobody.
func TurnedAways(s *Scene, r *recording.Recording) (out []TurnedAway) {
	for _, k := range s.Sockets {
		if !k.Listening() || k.First().Proto != "tcp" {
			continue
		}
		if t := turnedAwayAt(r, k); t.N >= failedFloor && t.N >= failedOfAll*t.Of && (t.Answered > 0 || t.keeps(s, k)) {
			out = append(out, t)
		}
	}
	return out
}

// keeps notes how many connections of a listener stay, where it keeps any.
func (t *TurnedAway) keeps(s *Scene, listener *Socket) bool {
	var all []*Socket
	for _, k := range s.Sockets {
		if k.Listener == listener && k.Owner() != nil {
			all = append(all, k)
		}
	}
	if least, most, looks := s.Stayed(all); looks >= 2 && least == most {
		t.Kept = most
	}
	return t.Kept >= fewKept
}

func turnedAwayAt(r *recording.Recording, k *Socket) TurnedAway {
	at := k.First()
	t := TurnedAway{Listener: k.Subject}
	turned, served := map[string]float64{}, map[string]float64{}
	for _, c := range r.Connections {
		if c.Role != "accept" || c.Netns != at.Netns || recording.Port(c.Local) != recording.Port(at.Local) {
			continue
		}
		t.N += float64(c.Unasked)
		t.Of += float64(c.Opened)
		turned[c.Remote] += float64(c.Unasked)
		served[c.Remote] += float64(c.Opened) - float64(c.Unasked)
		if c.Unasked > 0 {
			t.Active = append(t.Active, second(c.T))
		}
	}
	t.Active = intervals.Merge(t.Active, 0)
	for _, row := range r.Turns {
		if row.Role == "serve" && row.Netns == at.Netns && row.Proto == "" && recording.Port(row.Local) == recording.Port(at.Local) {
			t.Answered += float64(row.N)
			served[row.Remote] += float64(row.N) // by one that is older than the recording, too
		}
	}
	for client, n := range turned {
		if n == 0 {
			continue
		}
		if t.Clients++; served[client] > 0 {
			t.Known++
		}
	}
	return t
}

// connectionsTurnedAway: clients are let in and sent away at once.
func connectionsTurnedAway(s *Scene, r *recording.Recording) (out []Symptom) {
	for _, t := range TurnedAways(s, r) {
		out = append(out, onset(Symptom{
			Name: ConnectionErrors, Subject: t.Listener, Active: t.Active, Amount: t.N, Unit: "connections", Share: min(1, t.N/max(1, t.Of)),
			Text: fmt.Sprintf("%s connections were ended at once by the server, before anything was asked", units.OfAll(t.N, t.Of)),
		}, s))
	}
	return out
}
