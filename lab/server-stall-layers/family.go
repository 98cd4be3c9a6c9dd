package serverstalllayers

import (
	"time"

	"snag/lab/broadcast"
	"snag/lab/chain"
	"snag/lab/drawn"
)

// Family draws the incident: of three servers that a stream passes one is stopped again
// and again, or the encoder is.
var Family = drawn.Family{
	Name: "server-stall-layers", Kind: drawn.Streams, Origin: drawn.Lab, Needs: broadcast.Tools,
	Faults: []drawn.Fault{
		{Name: "origin-stopped", Suspects: []string{"process-stopped", "server-stall"}, Subject: `nginx`, Account: "stopped"},
		{Name: "edge-stopped", Suspects: []string{"process-stopped", "server-stall"}, Subject: `nginx`, Account: "stopped"},
		{Name: "relay-stopped", Suspects: []string{"process-stopped", "server-stall"}, Subject: `ffmpeg`, Account: "stopped"},
		{Name: "encoder-stopped", Suspects: []string{"process-stopped", "encoder-stall"}, Subject: `ffmpeg`, Account: "stopped"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	c := chain.Drawn(b)
	const shortest, longest = 700 * time.Millisecond, 5 * time.Second
	b.SwitchStops("origin-stopped", c.WorkerAt("origin"), shortest, longest)
	b.SwitchStops("edge-stopped", c.WorkerAt("edge"), shortest, longest)
	b.SwitchStops("relay-stopped", c.Relay.PID, shortest, longest)
	b.SwitchStops("encoder-stopped", c.Source.PID, shortest, longest)
}
