package serverstall

import (
	"time"

	"snag/lab/broadcast"
	"snag/lab/drawn"
)

// Family draws the incident: a server whose worker, which takes the stream in and serves
// it, or the packager beside it, is stopped again and again.
var Family = drawn.Family{
	Name: "server-stall", Kind: drawn.Streams, Origin: drawn.Lab, Needs: broadcast.Tools,
	Faults: []drawn.Fault{
		{Name: "worker-stopped", Suspects: []string{"process-stopped", "server-stall"}, Subject: `nginx`, Account: "stopped", Place: drawn.AtServer},
		{Name: "packager-stopped", Suspects: []string{"process-stopped", "server-stall"}, Subject: `ffmpeg`, Account: "stopped", Place: drawn.AtServer},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	packed := b.Fault.Name == "packager-stopped"
	w := broadcast.NewShow(b, broadcast.Kind{HLS: []bool{packed, packed, true}, Packed: packed})
	longest := 5 * time.Second
	if w.HLS {
		longest = 7 * time.Second
	}
	b.SwitchStops("worker-stopped", w.Worker(), 700*time.Millisecond, longest)
	if packed {
		b.SwitchStops("packager-stopped", w.Pack().PID, 2*time.Second, longest)
	}
	w.View()
}
