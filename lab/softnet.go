package lab

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Steer hands all packets that a device receives to one CPU (RPS): the mask is a
// list of hex groups of 8. It is the namespace's own and goes with it.
func (s *Stage) Steer(ns, device, mask string) {
	// ip netns exec mounts the sysfs that shows the namespace's devices.
	s.Command("", "ip", "netns", "exec", ns, "sh", "-c",
		fmt.Sprintf("echo %s > /sys/class/net/%s/queues/rx-0/rps_cpus", mask, device))
}

// Softnet is a row of /proc/net/softnet_stat: what one CPU received, dropped at its
// backlog, and how often its budget ended before its work did.
type Softnet struct{ Processed, Dropped, Squeezed uint64 }

// ReadSoftnet reads the rows of the CPUs that are on, which are the machine's.
func ReadSoftnet() ([]Softnet, error) {
	raw, err := os.ReadFile("/proc/net/softnet_stat")
	if err != nil {
		return nil, fmt.Errorf("lab: read the softnet counters: %w", err)
	}
	var out []Softnet
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		f := strings.Fields(line)
		if len(f) < 3 {
			return nil, fmt.Errorf("lab: /proc/net/softnet_stat has a line %q", line)
		}
		var v [3]uint64
		for i := range v {
			if v[i], err = strconv.ParseUint(f[i], 16, 64); err != nil {
				return nil, fmt.Errorf("lab: read the softnet counters: %w", err)
			}
		}
		out = append(out, Softnet{v[0], v[1], v[2]})
	}
	return out, nil
}

// SlowRules makes a receiver's packets expensive: n rules that match none of them
// are gone through for each UDP packet, 10 ns a rule.
func (s *Stage) SlowRules(ns string, n int) {
	var b strings.Builder
	b.WriteString("table ip slow {\n chain gone_through {\n  type filter hook prerouting priority -300\n")
	for i := range n {
		fmt.Fprintf(&b, "  udp dport %d counter\n", 20000+i)
	}
	b.WriteString(" }\n}\n")
	s.Nft(ns, b.String())
}

// Capacity measures how many packets per second the receiver's CPU can take, by a
// burst that its backlog holds. There must be a udp-sink at that address.
func (s *Stage) Capacity(tx, rx, to string) float64 {
	const sample = 400
	count := func() uint64 {
		n, err := s.Counter(rx, "Udp", "InDatagrams")
		if err != nil {
			s.fail(err)
		}
		return n
	}
	before, begin := count(), time.Now()
	probe := s.Actor(tx, "calibrate", "udp-source", []string{"--to", to, "--first", strconv.Itoa(sample), "--rate", "1", "--size", "200", "--sndbuf", "60000000"})
	for start := begin; s.Err() == nil && time.Since(start) < 60*time.Second; time.Sleep(5 * time.Millisecond) {
		switch now := count(); {
		case now == before:
			begin = time.Now() // it is still being started
		case now >= before+sample:
			s.Stop(probe)
			return sample / max(time.Since(begin).Seconds(), 0.01)
		}
	}
	s.fail(fmt.Errorf("lab: %d datagrams to %s were not received in 60 s", sample, to))
	return 1
}
