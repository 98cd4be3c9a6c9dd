package scene

import (
	"fmt"
	"math"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// slowHandshake is a handshake in which a SYN or its answer was sent again: the
// first retransmission comes after 1 s (TCP_TIMEOUT_INIT), and no path takes that
// long by itself. fewSlow of them are more than somebody's roaming phone.
const (
	slowHandshake = 0.9 // s
	fewSlow       = 3
	slowShare     = 0.001
)

// slowHandshakes: connections that this host opened and that took a second or
// more, by destination; by listener where the destination is on this host.
func slowHandshakes(s *Scene, r *recording.Recording) []Symptom {
	type total struct {
		subject      recording.Subject
		slow, opened float64
		worst        float64
		active       []recording.Interval
	}
	type key struct {
		netns  uint64
		remote string
	}
	by := map[key]*total{}
	var order []*total
	for _, c := range r.Connections {
		if c.Role != "connect" || c.Opened == 0 || c.PID != 0 && c.PID == r.Manifest.SelfPID {
			continue
		}
		k := key{c.Netns, c.Remote}
		t := by[k]
		if t == nil {
			t = &total{subject: callee(s, recording.Turns{Netns: c.Netns, Remote: c.Remote, PID: c.PID, Comm: c.Comm})}
			by[k] = t
			order = append(order, t)
		}
		t.opened += float64(c.Opened)
		if c.HandshakeMax < slowHandshake {
			continue
		}
		// A row has the sum and the longest: as many as that sum makes of the
		// longest were slow, and one at least.
		t.slow += min(float64(c.Opened), max(1, math.Floor(c.Handshake/c.HandshakeMax)))
		t.worst = max(t.worst, c.HandshakeMax)
		t.active = append(t.active, second(c.T))
	}
	var out []Symptom
	for _, t := range order {
		if t.slow < fewSlow || t.slow < slowShare*t.opened {
			continue
		}
		out = append(out, onset(Symptom{
			Name: ConnectLatency, Subject: t.subject, Active: intervals.Merge(t.active, 0), Amount: t.slow, Unit: "connections",
			Share: min(1, t.slow/t.opened),
			Text: fmt.Sprintf("%s of %s connections took about a second or more to open, up to %s",
				units.Count(t.slow), units.Count(t.opened), units.Short(t.worst)),
		}, s))
	}
	return out
}
