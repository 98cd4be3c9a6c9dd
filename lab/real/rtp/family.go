// Package rtp is video over RTP, from ffmpeg to a receiver made of GStreamer, which counts
// what is lost.
package rtp

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/broadcast"
	"snag/lab/drawn"
	"snag/lab/origin"
	"snag/lab/pyclient"
)

// Family is the video.
var Family = drawn.Family{
	Name: "rtp-video", Kind: drawn.Media, Origin: drawn.Real, Software: []string{"ffmpeg", "GStreamer"},
	Needs: []lab.Tool{lab.IP, lab.TC, {Command: "ffmpeg", Package: "ffmpeg"}, {Command: "gst-inspect-1.0", Package: "gstreamer1.0-tools"}},
	Faults: []drawn.Fault{
		{Name: "path-loss", Suspects: []string{"packet-loss"}, Subject: `10\.77\.|:50[0-9][0-9]|rtp-receiver|eth0`, Account: "loss"},
		{Name: "sender-stopped", Suspects: []string{"process-stopped", "encoder-stall"}, Subject: `ffmpeg`, Account: "stopped"},
		{Name: "receiver-stopped", Suspects: []string{"process-stopped", "reader-stall"}, Subject: `rtp-receiver|python`, Also: []string{"udp-receive-buffer-full"}, Account: "stopped"},
		{Name: "receiver-killed", Suspects: []string{"service-killed", "udp-port-closed"}, Subject: `rtp-receiver|python|:50[0-9][0-9]`, Account: "errors"},
		{Name: "small-buffer", Suspects: []string{"udp-receive-buffer-full"}, Subject: `rtp-receiver|python|:50[0-9][0-9]`, Account: "unread", Whole: true},
		{Name: "shaper", Suspects: []string{"qdisc-drop"}, Subject: `eth0|tbf`, Also: []string{"packet-loss"}, Account: "queue"},
	},
	Build: build,
}

//go:embed receiver.py
var receiver string

const port = 5000

func build(b *drawn.Bench) {
	n := b.NetOver(true, "--loss", fmt.Sprint(b.LogUniform("lost of the packets", 0.005, 0.3)))
	p := broadcast.PictureOf(b)
	streams := min(b.Int("streams", 1, 6), 1+8000/p.Kbit)
	buffer, small := 1<<20, b.Int("small buffer", 2304, 9216)
	if b.Built("small-buffer") {
		buffer = small
		b.Amount("%d bytes asked for the socket's buffer", buffer)
	}
	argv := []string{pyclient.Python, b.File("receiver.py", receiver), b.ClientLog("receiver"), fmt.Sprint(port), fmt.Sprint(streams),
		fmt.Sprint(b.Duration("jitter buffer", 20*time.Millisecond, 500*time.Millisecond).Milliseconds()), fmt.Sprint(buffer)}
	to := b.Supervised("receiver-killed", n.Server, "rtp-receiver", 400*time.Millisecond, 3*time.Second, argv)
	b.AwaitPrinted(to, "ready")
	b.SwitchStops("receiver-stopped", to.Child(), 300*time.Millisecond, 4*time.Second)

	file := filepath.Join(b.Dir(), "picture.ts") // its key frames say how they are to be decoded
	b.Command("", "ffmpeg", "-nostdin", "-loglevel", "error", "-i", broadcast.File(b.Stage, p), "-c", "copy", file)
	send := append(origin.FFmpeg(), "-re", "-stream_loop", "-1", "-i", file)
	for i := range streams {
		send = append(send, "-map", "0:v", "-c", "copy", "-f", "rtp", fmt.Sprintf("rtp://%s?pkt_size=1200", n.At(port+2*i)))
	}
	from := b.Run(n.Client, "sender", send)
	b.AwaitOutput(from, "frames are sent", origin.Moving)
	b.SwitchStops("sender-stopped", from.PID, 300*time.Millisecond, 4*time.Second)

	if b.Fault.Name == "path-loss" {
		b.Amount("lost of the packets: %v", b.Values["lost of the packets"])
	}
	b.Switch("path-loss", n.Break, n.Break)
	rate := fmt.Sprintf("%.0fkbit", b.Uniform("part of the streams that is carried", 0.3, 0.98)*float64(p.Kbit*streams))
	if b.Fault.Name == "shaper" {
		b.Amount("%s for %d streams of %d kbit/s", rate, streams, p.Kbit)
	}
	b.Switch("shaper", func() {
		b.Command(n.Client, "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "4kb", "limit", "10kb") // less than ffmpeg's socket has room for
	}, func() { b.Command(n.Client, "tc", "qdisc", "del", "dev", "eth0", "root") })
}
