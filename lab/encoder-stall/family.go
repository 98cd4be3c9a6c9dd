package encoderstall

import (
	"time"

	"snag/lab/broadcast"
	"snag/lab/drawn"
)

// Family draws the incident: an encoder of any picture that is stopped again and again, or
// is too slow for its stream, with viewers by RTMP or HLS.
var Family = drawn.Family{
	Name: "encoder-stall", Kind: drawn.Streams, Origin: drawn.Lab, Needs: broadcast.Tools,
	Faults: []drawn.Fault{
		{Name: "stopped", Suspects: []string{"process-stopped", "encoder-stall"}, Subject: `ffmpeg`, Account: "stopped", Place: drawn.AtEncoder},
		{Name: "slow", Suspects: []string{"encoder-stall"}, Subject: `ffmpeg|10\.88\.1\.2`, Account: "sleep", Whole: true, Place: drawn.AtEncoder},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	w := broadcast.NewShow(b, broadcast.Kind{
		HLS: []bool{false, false, true}, Clocks: []broadcast.Clock{broadcast.FileClock, broadcast.FileClock, broadcast.CaptureClock}, Slow: true,
	})
	longest := 5 * time.Second
	if w.HLS {
		longest = 7 * time.Second // its viewers have more of the stream in hand
	}
	b.SwitchStops("stopped", w.Source.PID, 700*time.Millisecond, longest)
	w.View()
}
