// Package conntrackfull makes a host whose connection tracking table is full.
package conntrackfull

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"snag/lab"
)

// Incident is the cause of that name. The maximum is one for the whole machine and
// can't be set in a network namespace, so it has a machine of its own.
var Incident = lab.Incident{
	Name:  "conntrack-full",
	Title: "connections that are kept fill the connection tracking table: new ones are dropped",
	VM:    &lab.VM{Modules: []string{"nf_conntrack", "nft_ct"}, Able: able},
	Needs: []lab.Tool{lab.IP, lab.NFT},
	Want: lab.Want{
		Suspect:  "conntrack-full",
		Subject:  `nf_conntrack_max.*lab.*-server`,
		Symptoms: []string{"connection-errors"},
	},
	Distractor: "the table is full of a scanner's half connections, and each new one takes the place of one of them",
	Start:      start,
	Remedy:     remedy,
}

const settings = "/proc/sys/net/netfilter/"

// able refuses where the host's own connections are tracked: the smaller maximum
// would be theirs too.
func able(*lab.Stage) error {
	raw, err := os.ReadFile(settings + "nf_conntrack_count")
	if err != nil {
		return fmt.Errorf("its kernel tracks no connections: %w", err)
	}
	if n := strings.TrimSpace(string(raw)); n != "0" {
		return errors.New("it tracks " + n + " connections of its own, and nf_conntrack_max is one for all")
	}
	return nil
}

func start(s *lab.Stage, v lab.Variant) error {
	tx, rx := s.Netns("client"), s.Netns("server")
	s.Veth(lab.End{Netns: tx, Device: "eth0", Addr: "10.77.30.1/24"}, lab.End{Netns: rx, Device: "eth0", Addr: "10.77.30.2/24"})
	s.Nft(rx, "table inet lab-filter {\n chain input {\n type filter hook input priority 0; policy accept; ct state established counter accept;\n}\n}\n")
	// The few places that are left: of a table that is 95 % full, the kernel removes connections that
	// ended once in a while (gc_worker), and as many new ones are let in.
	kept := lab.At(s, 247, 250, 253)
	// The smallest hash that the kernel makes: with it, a place is found for a new
	// connection among those that were never answered (early_drop).
	s.Sysctl(settings+"nf_conntrack_buckets", "512")
	s.Sysctl(settings+"nf_conntrack_max", map[lab.Variant]string{lab.Sick: "256", lab.Healthy: "65536", lab.Distractor: "1024"}[v])
	pool := s.Actor(rx, "pool-server", "tcp-sink", []string{"--listen", "10.77.30.2:7000"})
	s.AwaitPrinted(pool, "ready")
	server := s.Actor(rx, "api-server", "rr-server", []string{"--listen", "10.77.30.2:8080"})
	s.AwaitPrinted(server, "ready")
	holder := s.Actor(tx, "pool-client", "holder", []string{"--to", "10.77.30.2:7000", "--connections", fmt.Sprint(kept)})
	s.AwaitPrinted(holder, "held")
	switch v {
	case lab.Distractor:
		s.Actor(tx, "scanner", "udp-probe", []string{"--host", "10.77.30.2", "--port", "10000", "--ports", "50000", "--every", "2ms"})
		s.AwaitStat(rx, "early_drop", 20)
	default:
		s.Actor(tx, "api-client", "caller", []string{"--to", "10.77.30.2:8080", "--rate", "10", "--timeout", "2s"})
		if v == lab.Sick {
			s.AwaitStat(rx, "drop", 5)
		} else {
			s.AwaitGrowth(rx, "Tcp", "PassiveOpens", 20)
		}
	}
	return s.Err()
}
