// Package encoderstall stops an encoder that reads a file by its clock.
package encoderstall

import (
	"snag/lab"
	"snag/lab/broadcast"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "encoder-stall",
	Title: "a script stops the encoder of a stream (ffmpeg -re from a file) for 4 s, again and again: a burst follows each time",
	Needs: broadcast.Tools,
	Want: lab.Want{
		Suspect:  "process-stopped",
		Subject:  `ffmpeg`,
		Symptoms: []string{"stream-freeze"},
		Said:     "encoder-stall",
	},
	Distractor: "the server is stopped instead: the player sees the same",
	DistractorWant: lab.Want{
		Suspect:  "process-stopped",
		Subject:  `nginx`,
		Symptoms: []string{"stream-freeze"},
		Said:     "server-stall",
	},
	Start: start,
}

func start(s *lab.Stage, v lab.Variant) error {
	b := broadcast.New(s)
	encoder := b.Encode(broadcast.FileClock, "")
	b.Watch()
	stop := lab.At(s, "2500ms", "4s", "8s")
	switch v {
	case lab.Sick:
		b.StopAgain(encoder.PID, stop, "3s")
		s.AwaitState(encoder, 'T')
		broadcast.PartOf(s, stop)
	case lab.Distractor:
		b.StopAgain(b.Worker(), stop, "3s")
	}
	return s.Err()
}
