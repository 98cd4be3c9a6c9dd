package serverstallhls

import (
	"time"

	"snag/lab/broadcast"
	"snag/lab/drawn"
)

// Family draws the incident: of a stream whose viewers all get it as HLS, who packs it is
// stopped again and again: nginx, which serves it too, or ffmpeg beside nginx.
var Family = drawn.Family{
	Name: "server-stall-hls", Kind: drawn.Streams, Origin: drawn.Lab, Needs: broadcast.Tools,
	Faults: []drawn.Fault{
		{Name: "nginx-stopped", Suspects: []string{"process-stopped", "server-stall"}, Subject: `nginx.*-server`, Account: "stopped", Place: drawn.AtServer},
		{Name: "packager-stopped", Suspects: []string{"process-stopped", "server-stall"}, Subject: `ffmpeg.*-server`, Account: "stopped", Place: drawn.AtServer},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	packed := b.Fault.Name == "packager-stopped"
	w := broadcast.NewShow(b, broadcast.Kind{HLS: []bool{true}, Packed: packed, Clocks: []broadcast.Clock{broadcast.FileClock, broadcast.CaptureClock}})
	// Its viewers have some seconds of the stream in hand.
	const shortest, longest = 2 * time.Second, 8 * time.Second
	b.SwitchStops("nginx-stopped", w.Worker(), shortest, longest)
	if packed {
		b.SwitchStops("packager-stopped", w.Pack().PID, shortest, longest)
	}
	w.View()
}
