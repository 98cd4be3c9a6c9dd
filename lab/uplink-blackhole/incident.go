// Package uplinkblackhole lets an uplink die without a word.
package uplinkblackhole

import (
	"syscall"

	"snag/lab"
	"snag/lab/broadcast"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "uplink-blackhole",
	Title: "the encoder's uplink swallows all packets from the middle of the window on",
	Long:  true,
	Needs: broadcast.Tools,
	Want: lab.Want{
		Suspect:  "uplink-blackhole",
		Subject:  `10\.88\.1\.`,
		Symptoms: []string{"stream-freeze"},
	},
	Distractor: "the encoder is stopped at that time instead: the player sees the same",
	DistractorWant: lab.Want{
		Suspect:  "process-stopped",
		Subject:  `ffmpeg`,
		Symptoms: []string{"stream-freeze"},
		Said:     "encoder-stall",
	},
	Start: start,
}

func start(s *lab.Stage, v lab.Variant) error {
	b, uplink := broadcast.NewOver(s)
	encoder := b.Encode(broadcast.FileClock, "")
	b.Watch()
	switch v {
	case lab.Sick:
		s.BreaksIn(uplink, syscall.SIGUSR1)
	case lab.Distractor:
		s.BreaksIn(encoder, syscall.SIGSTOP)
	}
	return s.Err()
}
