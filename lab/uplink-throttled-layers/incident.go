// Package uplinkthrottledlayers lets the link between two servers that a stream
// passes carry too little of it.
package uplinkthrottledlayers

import (
	"snag/lab"
	"snag/lab/broadcast"
	"snag/lab/chain"
)

// Incident is the cause of that name, between two servers.
var Incident = lab.Incident{
	Name:  "uplink-throttled-layers",
	Title: "of three servers that a stream passes, a shaper between origin and edge lets a part of it through; it is watched at all of them",
	Long:  true,
	Needs: append([]lab.Tool{lab.TC}, broadcast.Tools...),
	Want: lab.Want{
		Suspect:  "uplink-throttled",
		Subject:  `10\.88\.3\.1`,
		Symptoms: []string{"stream-late"},
	},
	Distractor: "the link between them takes 0.3 s longer each way, always: nobody is harmed",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	var path []string
	if v == lab.Distractor {
		path = []string{"--delay", "300ms"}
	}
	c := chain.New(s, path...)
	if s.Err() != nil {
		return s.Err()
	}
	c.WatchLayers()
	if v == lab.Sick {
		rate := lab.At(s, "800kbit", "600kbit", "300kbit")
		s.BreaksBy(func() { c.Throttle(rate) })
	}
	return s.Err()
}
