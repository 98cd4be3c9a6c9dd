package encoderstallhls

import (
	"time"

	"snag/lab/broadcast"
	"snag/lab/drawn"
)

// Family draws the incident: the encoder of a stream whose viewers all get it as HLS, packed
// by nginx's own module or by ffmpeg beside it, is stopped again and again.
var Family = drawn.Family{
	Name: "encoder-stall-hls", Kind: drawn.Streams, Origin: drawn.Lab, Needs: broadcast.Tools,
	Faults: []drawn.Fault{
		{Name: "stopped", Suspects: []string{"process-stopped", "encoder-stall"}, Subject: `ffmpeg.*-encoder`, Account: "stopped", Place: drawn.AtEncoder},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	packed := b.Chance("packed by ffmpeg", 0.5)
	w := broadcast.NewShow(b, broadcast.Kind{HLS: []bool{true}, Packed: packed, Clocks: []broadcast.Clock{broadcast.FileClock, broadcast.CaptureClock}})
	if packed {
		w.Pack()
	}
	// Its viewers have some seconds of the stream in hand.
	b.SwitchStops("stopped", w.Source.PID, 2*time.Second, 8*time.Second)
	w.View()
}
