// Package readerstall lets one of the players of a stream stop reading.
package readerstall

import (
	"strings"

	"snag/lab"
	"snag/lab/broadcast"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "reader-stall",
	Title: "a recorder does not read its stream for 6 s, again and again; the stream goes on for all others",
	Long:  true,
	Needs: broadcast.Tools,
	Want: lab.Want{
		Suspect:  "reader-stall",
		Subject:  `recorder`,
		Symptoms: []string{"stream-freeze"},
	},
	Distractor: "the recorder reads in bursts, twice a second",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	b := broadcast.New(s)
	b.Encode(broadcast.FileClock, "")
	b.Watch()
	var args []string
	switch v {
	case lab.Sick:
		args = []string{"--read", "2s", "--stop", lab.At(s, "4s", "6s", "20s")}
	case lab.Distractor:
		args = []string{"--read", "20ms", "--stop", "400ms"}
	}
	recorder := b.Play("recorder", args...)
	if v == lab.Sick {
		s.AwaitOutput(recorder, "it has stopped once", func(printed string) bool { return strings.Contains(printed, `"stop":`) })
	}
	return s.Err()
}
