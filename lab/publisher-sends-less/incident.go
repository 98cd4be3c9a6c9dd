// Package publishersendsless makes a stream whose picture turns black.
package publishersendsless

import (
	"time"

	"snag/lab"
	"snag/lab/broadcast"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "publisher-sends-less",
	Title: "the picture of a stream turns black, and its frames come on",
	Long:  true,
	// It turns black after ten seconds, and lasts.
	Window: 20 * time.Second,
	Needs:  broadcast.Tools,
	Want: lab.Want{
		Suspect:  "publisher-sends-less",
		Subject:  `ffmpeg`,
		Symptoms: []string{"stream-bitrate-fell"},
	},
	Distractor: "a scene becomes quiet, and takes a part of the bytes",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	b := broadcast.New(s)
	b.Film(map[lab.Variant]string{
		lab.Sick:       broadcast.TurnsBlack,
		lab.Distractor: broadcast.TurnsQuiet,
	}[v])
	b.Watch()
	return s.Err()
}
