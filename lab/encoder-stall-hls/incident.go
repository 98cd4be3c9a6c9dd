// Package encoderstallhls stops the encoder of a stream whose viewers get it as HLS.
package encoderstallhls

import (
	"time"

	"snag/lab"
	"snag/lab/broadcast"
)

// Incident is the cause encoder-stall, of a stream that comes from files.
var Incident = lab.Incident{
	Name:  "encoder-stall-hls",
	Title: "a script stops the encoder of a stream whose viewers get it as HLS, of nginx's own module, for 6 s, again and again",
	Long:  true,
	// Stopped for 6 s of 10: two stops, of which one begins inside.
	Window: 15 * time.Second,
	Needs:  broadcast.Tools,
	Want: lab.Want{
		Suspect:  "process-stopped",
		Subject:  `ffmpeg.*-encoder`,
		Symptoms: []string{"stream-freeze"},
		Said:     "encoder-stall",
	},
	Distractor: "nginx, which takes it in, packs and serves it, is stopped instead",
	DistractorWant: lab.Want{
		Suspect:  "process-stopped",
		Subject:  `nginx.*-server`,
		Symptoms: []string{"stream-freeze"},
		Said:     "server-stall",
	},
	Start: start,
}

func start(s *lab.Stage, v lab.Variant) error {
	b := broadcast.NewHLS(s, false)
	encoder := b.Encode(broadcast.FileClock, "")
	b.WatchHLS()
	stop := lab.At(s, "4500ms", "6s", "8s")
	switch v {
	case lab.Sick:
		b.StopAgain(encoder.PID, stop, "4s")
		s.AwaitState(encoder, 'T')
	case lab.Distractor:
		b.StopAgain(b.Worker(), stop, "4s")
	}
	return s.Err()
}
