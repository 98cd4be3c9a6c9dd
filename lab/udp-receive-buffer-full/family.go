package udpreceivebufferfull

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a receiver of bursts whose buffer, pace or senders don't fit.
var Family = drawn.Family{
	Name: "udp-receive-buffer-full", Kind: drawn.Packets, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP},
	Faults: []drawn.Fault{
		{Name: "small-buffer", Suspects: []string{"udp-receive-buffer-full"}, Subject: `rtp-sink|:5004`, Account: "loss", Whole: true},
		{Name: "bursts", Suspects: []string{"udp-receive-buffer-full"}, Subject: `rtp-sink|:5004`, Account: "loss"},
		{Name: "slow-reader", Suspects: []string{"udp-receive-buffer-full", "receiver-too-slow"}, Subject: `rtp-sink|:5004`, Account: "loss"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	rate, burst, size := b.LogUniform("datagrams per second", 30, 1500), b.Int("datagrams at once", 4, 128), b.Int("bytes of a datagram", 64, 1400)
	burst = min(burst, int(rate/3))
	flows := max(1, min(b.Int("senders' sockets", 1, 8), int(rate/float64(3*burst))))
	work := time.Duration(b.LogUniform("reader's use of its time", 0.02, 0.4) / rate * float64(time.Second))
	holds := 3*float64(flows*burst) + 0.3*rate // datagrams, when it is well
	many := int(max(1.3*holds, min(rate, holds*b.LogUniform("bursts by", 1.3, 20))))
	slow := time.Duration(b.LogUniform("reads too slowly by", 1.1, 10) / rate * float64(time.Second))
	few := b.LogUniform("share of a burst that the buffer holds", 0.1, 0.9) * float64(burst)
	if b.Built("small-buffer") {
		holds = few
		b.Amount("the buffer holds %.0f datagrams of a burst of %d", holds, burst)
	}
	buffer := int(holds * drawn.DatagramMemory(size) / 2) // the kernel doubles it
	sink := b.Actor(net.Server, "rtp-sink", "udp-sink", []string{"--listen", net.At(5004), "--force-rcvbuf", fmt.Sprint(buffer), "--work", work.String(),
		"--slow", slow.String(), "--log", b.ClientLog("arrived")})
	b.AwaitPrinted(sink, "ready")
	source := b.Actor(net.Client, "rtp-source", "udp-source", []string{"--to", net.At(5004), "--rate", fmt.Sprint(rate), "--burst", fmt.Sprint(burst),
		"--bursty", fmt.Sprint(many), "--flows", fmt.Sprint(flows), "--size", fmt.Sprint(size), "--sndbuf", "8000000", "--log", b.ClientLog("sent")})
	flip := func(p *lab.Process) func() { return func() { b.Signal(p, syscall.SIGUSR1) } }
	b.Switch("bursts", flip(source), flip(source))
	b.Switch("slow-reader", flip(sink), flip(sink))
	switch b.Fault.Name {
	case "bursts":
		b.Amount("bursts of %d datagrams to a buffer of %.0f", many, holds)
	case "slow-reader":
		b.Amount("%v for each of %.0f datagrams per second", slow, rate)
	}
}
