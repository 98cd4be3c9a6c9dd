package smallreceivewindow

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a receive buffer that is too small for the round trip.
var Family = drawn.Family{
	Name: "small-receive-window", Kind: drawn.Connections, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.Sysctl},
	Faults: []drawn.Fault{
		{Name: "so-rcvbuf", Suspects: []string{"small-receive-window"}, Subject: `upload|:8000|10\.77\.`, Account: "window", Whole: true},
		{Name: "tcp-rmem", Suspects: []string{"small-receive-window"}, Subject: `upload|:8000|10\.77\.|tcp_rmem`, Account: "window", Whole: true},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.NetAway(b.Duration("round trip", 4*time.Millisecond, 80*time.Millisecond), true)
	flows := b.Int("streams", 1, 8)
	rate := b.LogUniform("bytes per second of a stream", 100e3, 2e6/float64(flows)+100e3)
	chunk := max(64, min(16384, int(rate/b.LogUniform("chunks per second", 10, 50))))
	// Half of the buffer is offered as a window.
	buffer := max(2304, int(2*rate*net.RTT.Seconds()*b.LogUniform("window, of what the round trip needs", 0.1, 1)))
	args := []string{"--listen", net.At(8000), "--chunk", fmt.Sprint(chunk), "--log", b.ClientLog("upload")}
	switch {
	case b.Built("so-rcvbuf"):
		args = append(args, "--rcvbuf", fmt.Sprint(buffer/2)) // the kernel doubles it
	case b.Built("tcp-rmem"):
		b.Command(net.Server, "sysctl", "-qw", fmt.Sprintf("net.ipv4.tcp_rmem=%d %d %d", min(4096, buffer), buffer, buffer))
	}
	b.Amount("a buffer of %d bytes for %.0f bytes per second over %v", buffer, rate, net.RTT)
	server := b.Actor(net.Server, "upload-server", "tcp-sink", args)
	b.AwaitPrinted(server, "ready")
	client := b.Actor(net.Client, "uploader", "tcp-source", []string{"--to", net.At(8000), "--rate", fmt.Sprint(rate * float64(flows)), "--flows", fmt.Sprint(flows), "--chunk", fmt.Sprint(chunk), "--stamp"})
	b.AwaitPrinted(client, "ready")
}
