// Package softnetbacklog overflows a CPU's backlog of received packets with bursts.
package softnetbacklog

import (
	"fmt"
	"runtime"
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "softnet-backlog",
	Title: "bursts that are handed to another CPU overflow its backlog of netdev_max_backlog packets",
	Long:  true,
	Needs: []lab.Tool{lab.IP, lab.NFT},
	Want: lab.Want{
		Suspect:  "softnet-backlog",
		Subject:  `CPU 1`,
		Symptoms: []string{"datagrams-lost"},
	},
	Distractor: "the same work in bursts that the backlog holds: rounds end before the queue is empty (squeezes), nothing is dropped",
	Start:      start,
	Remedy:     remedy,
}

// A receiver this slow is behind its sender: 2,000 rules cost 20 µs per packet, which
// takes 5 to send. Twice netdev_max_backlog wait before one is dropped: as many are
// being worked on (net/core/dev.c, process_backlog). With one interface alone a round
// is squeezed only by its time, 8 ms: then 64 packets must take as long.
const (
	rules     = 2000
	slowRules = 12000
)

func start(s *lab.Stage, v lab.Variant) error {
	if runtime.NumCPU() < 2 {
		return fmt.Errorf("lab: softnet-backlog needs 2 CPUs: one hands its packets to the other")
	}
	tx, rx := s.Netns("tx"), s.Netns("rx")
	s.Veth(lab.End{Netns: tx, Device: "eth0", Addr: "10.77.31.1/24"}, lab.End{Netns: rx, Device: "eth0", Addr: "10.77.31.2/24"})
	s.Steer(rx, "eth0", "2") // CPU 1
	n := rules
	if v == lab.Distractor {
		n = slowRules
	}
	s.SlowRules(rx, n)
	sink := s.Actor(rx, "telemetry", "udp-sink", []string{"--listen", "10.77.31.2:5004", "--force-rcvbuf", "30000000"})
	s.AwaitPrinted(sink, "ready")
	// One burst per second: CPU 1 works on it for a tenth of that and then idles.
	burst := map[lab.Variant]int{lab.Sick: lab.At(s, 3200, 6000, 12000), lab.Healthy: 100, lab.Distractor: 0}[v]
	if v == lab.Distractor { // as many as are worked on within a third of a second
		burst = min(600, int(0.3*s.Capacity(tx, rx, "10.77.31.2:5004")))
	}
	args := []string{"--to", "10.77.31.2:5004", "--rate", fmt.Sprint(burst), "--burst", fmt.Sprint(burst), "--size", "200", "--sndbuf", "60000000"}
	before, err := lab.ReadSoftnet()
	if err != nil {
		return err
	}
	s.Actor(tx, "exporter", "udp-source", args)
	s.AwaitGrowth(rx, "Udp", "InDatagrams", uint64(burst))
	what := map[lab.Variant]func(a, b lab.Softnet) bool{
		lab.Sick:       func(a, b lab.Softnet) bool { return b.Dropped > a.Dropped+100 },
		lab.Distractor: func(a, b lab.Softnet) bool { return b.Squeezed > a.Squeezed },
	}[v]
	if what != nil {
		s.Await("CPU 1's backlog to show it", 30*time.Second, func() (bool, error) {
			now, err := lab.ReadSoftnet()
			return err == nil && what(before[1], now[1]), err
		})
	}
	return s.Err()
}
