package receivertooslow

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a receiver of datagrams that begins to wait, or to compute, for
// longer than the next takes to come; or its senders begin to send more than it can take.
// Its buffer holds any burst: it is full because nobody reads as fast as it is filled.
var Family = drawn.Family{
	Name: "receiver-too-slow", Kind: drawn.Packets, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP},
	Faults: []drawn.Fault{
		{Name: "waits", Suspects: []string{"receiver-too-slow"}, Subject: subject, Also: []string{"udp-receive-buffer-full"}, Account: "loss"},
		{Name: "computes", Suspects: []string{"receiver-too-slow"}, Subject: subject, Also: []string{"udp-receive-buffer-full", "busy-thread", "cpu-saturated"}, Account: "loss"},
		{Name: "more-datagrams", Suspects: []string{"receiver-too-slow"}, Subject: subject, Also: []string{"udp-receive-buffer-full", "busy-thread", "cpu-saturated"}, Account: "loss"},
	},
	Build: buildFamily,
}

const subject = `rtp-sink|:5004`

// most datagrams per second: senders and receiver share two CPUs.
const most = 3000

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	rate, size := b.LogUniform("datagrams per second", 30, 1500), b.Int("bytes of a datagram", 64, 1400)
	use, beyond := b.LogUniform("reader's use of its time", 0.05, 0.3), b.LogUniform("demand, of what it can read", 1.5, 10)
	busy := b.Fault.Name == "computes" || b.Fault.Name == "more-datagrams" && b.Chance("reader computes", 0.5)
	faster := 1.0
	if b.Fault.Name == "more-datagrams" {
		faster = beyond / use
		rate = max(20, min(rate, most/faster))
	}
	burst := max(1, min(b.Int("datagrams at once", 1, 16), int(rate/10)))
	flows := max(1, min(b.Int("senders' sockets", 1, 32), int(rate/float64(4*burst))))
	work, slow := seconds(use/rate).Round(time.Microsecond), seconds(beyond/rate).Round(time.Microsecond)
	holds := float64(4*flows*burst) + rate*b.Duration("buffer holds", 100*time.Millisecond, 400*time.Millisecond).Seconds()
	args := []string{"--listen", net.At(5004), "--force-rcvbuf", fmt.Sprint(int(holds * drawn.DatagramMemory(size) / 2)), // the kernel doubles it
		"--work", work.String(), "--slow", slow.String(), "--log", b.ClientLog("arrived")}
	if busy {
		args = append(args, "--busy")
	}
	sink := b.Actor(net.Server, "rtp-sink", "udp-sink", args)
	b.AwaitPrinted(sink, "ready")
	source := b.Actor(net.Client, "rtp-source", "udp-source", []string{"--to", net.At(5004), "--rate", fmt.Sprint(rate), "--burst", fmt.Sprint(burst),
		"--faster", fmt.Sprint(faster), "--flows", fmt.Sprint(flows), "--size", fmt.Sprint(size), "--sndbuf", "8000000", "--log", b.ClientLog("sent")})
	flip := func(p *lab.Process) func() { return func() { b.Signal(p, syscall.SIGUSR1) } }
	b.Switch("waits", flip(sink), flip(sink))
	b.Switch("computes", flip(sink), flip(sink))
	b.Switch("more-datagrams", flip(source), flip(source))
	if b.Fault.Name == "more-datagrams" {
		b.Amount("%.0f datagrams per second, each of which takes %v, instead of %.0f", rate*faster, work, rate)
	} else {
		b.Amount("%v for each of %.0f datagrams per second, instead of %v", slow, rate, work)
	}
}

// seconds as a time.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
