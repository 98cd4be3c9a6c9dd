// Package encoderstallslow makes an encoder that is too slow for its own stream.
package encoderstallslow

import (
	"snag/lab"
	"snag/lab/broadcast"
)

// Incident is the cause of that name, that goes on and is late.
var Incident = lab.Incident{
	Name:  "encoder-stall-slow",
	Title: "an encoder makes 0.8 s of picture per second",
	Long:  true,
	Needs: broadcast.Tools,
	Want: lab.Want{
		Suspect:  "encoder-stall",
		Subject:  `ffmpeg`,
		Symptoms: []string{"stream-late"},
	},
	Distractor: "a busy thread of a lower priority beside an encoder that keeps its pace",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	b := broadcast.New(s)
	clock := broadcast.FileClock
	if v == lab.Sick {
		clock = broadcast.SlowClock
	}
	b.Encode(clock, "")
	b.Watch()
	if v == lab.Distractor {
		s.Actor("", "batch", "burner", nil, lab.Nice(15))
	}
	return s.Err()
}
