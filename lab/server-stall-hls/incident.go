// Package serverstallhls stops who packs a stream into the segments of HLS.
package serverstallhls

import (
	"time"

	"snag/lab"
	"snag/lab/broadcast"
)

// Incident is the cause server-stall, of a stream that comes from files.
var Incident = lab.Incident{
	Name:  "server-stall-hls",
	Title: "a script stops the packager of a stream (ffmpeg that writes HLS) for 6 s, again and again",
	Long:  true,
	// Stopped for 6 s of 10: two stops, of which one begins inside.
	Window: 15 * time.Second,
	Needs:  broadcast.Tools,
	Want: lab.Want{
		Suspect:  "process-stopped",
		Subject:  `ffmpeg.*-server`,
		Symptoms: []string{"stream-freeze"},
		Said:     "server-stall",
	},
	Distractor: "the encoder is stopped instead: the viewer sees the same",
	DistractorWant: lab.Want{
		Suspect:  "process-stopped",
		Subject:  `ffmpeg.*-encoder`,
		Symptoms: []string{"stream-freeze"},
		Said:     "encoder-stall",
	},
	Start: start,
}

func start(s *lab.Stage, v lab.Variant) error {
	b := broadcast.NewHLS(s, true)
	encoder := b.Encode(broadcast.FileClock, "")
	packager := b.Pack()
	b.WatchHLS()
	stop := lab.At(s, "4500ms", "6s", "8s")
	switch v {
	case lab.Sick:
		b.StopAgain(packager.PID, stop, "4s")
		s.AwaitState(packager, 'T')
	case lab.Distractor:
		b.StopAgain(encoder.PID, stop, "4s")
		s.AwaitState(encoder, 'T')
	}
	return s.Err()
}
