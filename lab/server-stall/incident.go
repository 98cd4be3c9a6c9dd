// Package serverstall stops the server of a stream.
package serverstall

import (
	"snag/lab"
	"snag/lab/broadcast"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "server-stall",
	Title: "a script stops the worker of a stream's server (nginx) for 4 s, again and again",
	Needs: broadcast.Tools,
	Want: lab.Want{
		Suspect:  "process-stopped",
		Subject:  `nginx`,
		Symptoms: []string{"stream-freeze"},
		Said:     "server-stall",
	},
	Distractor: "the encoder is stopped instead: the player sees the same",
	DistractorWant: lab.Want{
		Suspect:  "process-stopped",
		Subject:  `ffmpeg`,
		Symptoms: []string{"stream-freeze"},
		Said:     "encoder-stall",
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
		b.StopAgain(b.Worker(), stop, "3s")
	case lab.Distractor:
		b.StopAgain(encoder.PID, stop, "3s")
		s.AwaitState(encoder, 'T')
		broadcast.PartOf(s, stop)
	}
	return s.Err()
}
