// Package uplinkthrottled lets less through an uplink than the stream needs.
package uplinkthrottled

import (
	"snag/lab"
	"snag/lab/broadcast"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "uplink-throttled",
	Title: "a shaper on the encoder's uplink lets a third of its stream through",
	Long:  true,
	Needs: append([]lab.Tool{lab.TC}, broadcast.Tools...),
	Want: lab.Want{
		Suspect: "uplink-throttled",
		Subject: `10\.88\.1\.`,
		// Where so little gets through that a viewer's first picture never comes, it is
		// frozen, not late.
		Symptoms: []string{"stream-late|stream-freeze"},
	},
	Distractor: "the same shaper at ten times the rate",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	b := broadcast.New(s)
	b.Encode(broadcast.FileClock, "")
	b.Watch()
	rate := lab.At(s, "700kbit", "350kbit", "150kbit")
	if v == lab.Distractor {
		rate = "10mbit"
	}
	if v != lab.Healthy {
		s.Command(b.Encoder, "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "16kb", "limit", "1mb")
	}
	if v == lab.Sick {
		s.Await("what waits at the encoder", lab.MaxLife/10, func() (bool, error) {
			m, err := b.Look()
			return m.SendQ > 50_000, err
		})
	}
	return s.Err()
}
