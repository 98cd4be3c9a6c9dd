// Package encoderstallcapture stops an encoder that stamps each picture when it is taken.
package encoderstallcapture

import (
	"snag/lab"
	"snag/lab/broadcast"
)

// Incident is the cause of that name, by a capture clock.
var Incident = lab.Incident{
	Name:  "encoder-stall-capture",
	Title: "a script stops the encoder of a camera for 4 s, again and again: the clock steps, and there is no burst",
	Long:  true,
	Needs: broadcast.Tools,
	Want: lab.Want{
		Suspect:  "process-stopped",
		Subject:  `ffmpeg`,
		Symptoms: []string{"stream-freeze"},
		Said:     "encoder-stall",
	},
	Distractor: "the encoder of another stream on the same server is stopped; the one that is watched goes on",
	// That the other one is stopped is true.
	DistractorWant: lab.Want{Also: []string{"process-stopped"}},
	Start:          start,
}

func start(s *lab.Stage, v lab.Variant) error {
	b := broadcast.New(s)
	encoder := b.Encode(broadcast.CaptureClock, "")
	b.Watch()
	switch v {
	case lab.Sick:
		b.StopAgain(encoder.PID, lab.At(s, "2500ms", "4s", "8s"), "3s")
		s.AwaitState(encoder, 'T')
	case lab.Distractor:
		other := b.Encode(broadcast.FileClock, "studio")
		b.StopAgain(other.PID, "4s", "3s")
		s.AwaitState(other, 'T')
	}
	return s.Err()
}
