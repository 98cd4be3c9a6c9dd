// Package softirqononecpu gives one CPU all packets and more work on them than it
// can do.
package softirqononecpu

import (
	"fmt"
	"runtime"
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "softirq-on-one-cpu",
	Title: "an RPS mask of one CPU: it is in softirqs all the time while the others idle",
	Long:  true,
	Needs: []lab.Tool{lab.IP, lab.NFT},
	Want: lab.Want{
		Suspect:  "softirq-on-one-cpu",
		Subject:  `CPU 1`,
		Symptoms: []string{"datagrams-lost"},
		// True of it too: what can't be worked on in time overflows the backlog.
		Also: []string{"softnet-backlog"},
	},
	Distractor: "all CPUs are busy with programs, and one of them has the network's work as well: there is no room to spread it to, and nothing is lost",
	Start:      start,
}

// rules of the receiver's filter: 20,000 cost some 0.2 ms per packet, so that a sender
// needs a twentieth of a CPU for as many as one CPU can receive. How many that are
// depends on the machine, and is measured.
const rules = 20000

func start(s *lab.Stage, v lab.Variant) error {
	cpus := runtime.NumCPU()
	if cpus < 2 {
		return fmt.Errorf("lab: softirq-on-one-cpu needs 2 CPUs")
	}
	tx, rx := s.Netns("tx"), s.Netns("rx")
	s.Veth(lab.End{Netns: tx, Device: "eth0", Addr: "10.77.32.1/24"}, lab.End{Netns: rx, Device: "eth0", Addr: "10.77.32.2/24"})
	s.Steer(rx, "eth0", "2") // CPU 1
	s.SlowRules(rx, rules)
	sink := s.Actor(rx, "collector", "udp-sink", []string{"--listen", "10.77.32.2:5004", "--force-rcvbuf", "30000000"})
	s.AwaitPrinted(sink, "ready")
	most := s.Capacity(tx, rx, "10.77.32.2:5004")
	load := map[lab.Variant]float64{lab.Sick: lab.At(s, 1.25, 1.6, 3), lab.Healthy: 0.05, lab.Distractor: 0.05}[v]
	rate := max(20, int(load*most))
	if v == lab.Distractor {
		s.Actor("", "compile", "burner", []string{"--threads", fmt.Sprint(cpus)})
	}
	before, err := lab.ReadSoftnet()
	if err != nil {
		return err
	}
	s.Actor(tx, "agents", "udp-source", []string{"--to", "10.77.32.2:5004", "--rate", fmt.Sprint(rate), "--burst", fmt.Sprint(max(1, rate/20)), "--size", "200", "--sndbuf", "60000000"})
	s.AwaitGrowth(rx, "Udp", "InDatagrams", uint64(rate)/2)
	if v == lab.Sick {
		s.Await("CPU 1 to drop", 60*time.Second, func() (bool, error) {
			now, err := lab.ReadSoftnet()
			return err == nil && now[1].Dropped > before[1].Dropped+200, err
		})
	}
	return s.Err()
}
