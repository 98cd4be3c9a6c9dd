package lab

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Counter reads a count of /proc/net/snmp or /proc/net/netstat in a namespace:
// Counter(ns, "Udp", "RcvbufErrors").
func (s *Stage) Counter(ns, proto, field string) (uint64, error) {
	var v uint64
	err := s.spawn.in(ns, func() error {
		for _, file := range []string{"snmp", "netstat"} {
			raw, err := os.ReadFile("/proc/thread-self/net/" + file)
			if err != nil {
				return fmt.Errorf("lab: read counters of %s: %w", ns, err)
			}
			if n, ok := counterIn(string(raw), proto, field); ok {
				v = n
				return nil
			}
		}
		return fmt.Errorf("lab: no counter %s %s in namespace %s", proto, field, ns)
	})
	return v, err
}

// counterIn finds a field in the pairs of lines of /proc/net/snmp: names, then values.
func counterIn(raw, proto, field string) (uint64, bool) {
	var names []string
	for _, line := range strings.Split(raw, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != proto+":" {
			continue
		}
		if names == nil {
			names = f
			continue
		}
		for i, name := range names {
			if name == field && i < len(f) {
				n, err := strconv.ParseUint(f[i], 10, 64)
				return n, err == nil
			}
		}
		return 0, false
	}
	return 0, false
}

// AwaitNeighbour waits until an address of a link is in one of these states, as ip
// neigh names them.
func (s *Stage) AwaitNeighbour(ns, addr string, states ...string) {
	s.Await(fmt.Sprintf("%s to be %s in %s", addr, strings.Join(states, " or "), ns), 20*time.Second, func() (bool, error) {
		out, err := s.Output(ns, "ip", "neigh", "show", addr)
		for _, state := range states {
			if strings.Contains(out, state) {
				return true, err
			}
		}
		return false, err
	})
}

// AwaitGrowth waits until a counter has grown by n since the call.
func (s *Stage) AwaitGrowth(ns, proto, field string, n uint64) {
	if s.Err() != nil {
		return
	}
	first, err := s.Counter(ns, proto, field)
	if err != nil {
		s.fail(err)
		return
	}
	what := fmt.Sprintf("%s %s in %s to grow by %d", proto, field, ns, n)
	s.Await(what, 30*time.Second, func() (bool, error) {
		now, err := s.Counter(ns, proto, field)
		return now >= first+n, err
	})
}

// AwaitStat waits until a count of /proc/net/stat/nf_conntrack, of all CPUs, is n or
// more in a namespace.
func (s *Stage) AwaitStat(ns, field string, n uint64) {
	s.Await(fmt.Sprintf("conntrack's %s in %s to be %d", field, ns, n), 60*time.Second, func() (bool, error) {
		now, err := s.Conntrack(ns, field)
		return now >= n, err
	})
}

// Conntrack reads a count of /proc/net/stat/nf_conntrack of all CPUs in a namespace.
func (s *Stage) Conntrack(ns, field string) (sum uint64, err error) {
	err = s.spawn.in(ns, func() error {
		raw, err := os.ReadFile("/proc/thread-self/net/stat/nf_conntrack")
		if err != nil {
			return fmt.Errorf("lab: read connection tracking of %s: %w", ns, err)
		}
		lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
		for i, name := range strings.Fields(lines[0]) {
			if name != field {
				continue
			}
			for _, line := range lines[1:] {
				if f := strings.Fields(line); i < len(f) {
					v, err := strconv.ParseUint(f[i], 16, 64)
					if err != nil {
						return err
					}
					sum += v
				}
			}
			return nil
		}
		return fmt.Errorf("lab: no count %s of connection tracking in %s", field, ns)
	})
	return sum, err
}
