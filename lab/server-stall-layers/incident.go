// Package serverstalllayers stops the middle one of three servers that a stream passes.
package serverstalllayers

import (
	"snag/lab"
	"snag/lab/broadcast"
	"snag/lab/chain"
)

// Incident is the cause of that name, in a chain of servers.
var Incident = lab.Incident{
	Name:  "server-stall-layers",
	Title: "of three servers that a stream passes, the origin's worker is stopped for 4 s; it is watched at all of them",
	Long:  true,
	Needs: broadcast.Tools,
	Want: lab.Want{
		Suspect:  "process-stopped",
		Subject:  `nginx.*-origin\)`,
		Symptoms: []string{"stream-freeze"},
		Said:     "server-stall",
	},
	Distractor: "the encoder is stopped at that time instead: the viewer at the edge sees the same",
	DistractorWant: lab.Want{
		Suspect:  "process-stopped",
		Subject:  `ffmpeg`,
		Symptoms: []string{"stream-freeze"},
		Said:     "encoder-stall",
	},
	Start: start,
}

func start(s *lab.Stage, v lab.Variant) error {
	c := chain.New(s)
	if s.Err() != nil {
		return s.Err()
	}
	c.WatchLayers()
	stop := lab.At(s, "2500ms", "4s", "6s")
	worker := c.WorkerAt("origin")
	switch v {
	case lab.Sick:
		s.BreaksBy(func() { c.StopAgain(worker, stop, "3s") })
	case lab.Distractor:
		s.BreaksBy(func() { c.StopAgain(c.Source.PID, stop, "3s") })
	}
	return s.Err()
}
