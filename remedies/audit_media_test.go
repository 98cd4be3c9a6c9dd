package remedies

import (
	"slices"
	"strings"
	"testing"

	"snag/recording/rectest"
	"snag/remedies/audit"
	"snag/remedies/plan"
)

const mediaHost = `A relay of media whose settings are as they should be, and what of it is not.
-- manifest --
{"seconds": 30}
-- samples --
node_memory_MemTotal_bytes 8589934592+0x29
node_netstat_Udp_SndbufErrors 7+REFUSEDx29
node_softnet_dropped_total{cpu="0"} 0+BACKLOGx29
node_softnet_times_squeezed_total{cpu="0"} 0+SQUEEZEDx29
node_qdisc_drops_total{device="eth0",handle="8001:",kind="fq",parent="root"} 3+QDROPSx29
node_cpu_seconds_total{cpu="0",mode="softirq"} 0+SOFTIRQx29
node_cpu_seconds_total{cpu="1",mode="softirq"} 0+0.01x29
node_network_receive_packets_total{device="eth0"} 0+PACKETSx29
node_network_transmit_packets_total{device="eth0"} 0+10x29
node_vmstat_allocstall_normal 5+STALLSx29
node_sockstat_UDP_mem UDPMEM+0x29
-- nics --
{"t": 0, "device": "eth0", "driver": "igb", "speed": 1000, "rings": {"rx": 4096, "rx_max": 4096}, "channels": {"combined": 1, "combined_max": 8}, "coalesce": {"rx_usecs": USECS, "adaptive_rx": false}, "features": {"rx-gro": GRO}}
-- qdiscs --
{"t": 0, "device": "eth0", "kind": "fq", "handle": "8001:", "parent": "root", "options": {"limit": "10000p", "flow_limit": "1000p"}}
-- facts --
{"t": 0, "name": "net.core.rmem_max", "value": "8388608", "source": "x"}
{"t": 0, "name": "net.core.rmem_default", "value": "212992", "source": "x"}
{"t": 0, "name": "net.core.wmem_default", "value": "212992", "source": "x"}
{"t": 0, "name": "net.core.netdev_max_backlog", "value": "1000", "source": "x"}
{"t": 0, "name": "net.core.netdev_budget", "value": "300", "source": "x"}
{"t": 0, "name": "net.core.netdev_budget_usecs", "value": "2000", "source": "x"}
{"t": 0, "name": "net.ipv4.udp_mem", "value": "190000 250000 380000", "source": "x"}
{"t": 0, "name": "vm.min_free_kbytes", "value": "67584", "source": "x"}
{"t": 0, "name": "transparent_hugepage.defrag", "value": "DEFRAG", "source": "x"}
-- processes --
{"t": 0, "pid": 80, "comm": "relay", "netns": 1, "uid": 0, "state": "S", "threads": 1, "cpu_seconds": 1, "fds": FDS, "fd_limit": 1024, "fd_hard": 524288}
-- sockets --
{"t": 0, "netns": 1, "proto": "udp", "state": "UNCONN", "local": "10.0.0.1:5004", "inode": 9, "recv_q": 0, "send_q": 0, "rcvbuf": 212992, "drops": 4, "owners": [{"pid": 80, "comm": "relay", "fd": 5}]}
{"t": 29, "netns": 1, "proto": "udp", "state": "UNCONN", "local": "10.0.0.1:5004", "inode": 9, "recv_q": 0, "send_q": 0, "rcvbuf": 212992, "drops": LOST, "owners": [{"pid": 80, "comm": "relay", "fd": 5}]}
-- netns --
{"t": 0, "id": 1, "own": true, "addrs": ["eth0 10.0.0.1/24"]}
`

var mediaFine = []string{"REFUSED", "0", "BACKLOG", "0", "SQUEEZED", "1", "QDROPS", "0", "SOFTIRQ", "0.1", "PACKETS", "2000", "STALLS", "0", "UDPMEM", "1000", "USECS", "30", "GRO", "true", "DEFRAG", "madvise", "FDS", "40", "LOST", "4"}

func auditedMedia(t *testing.T, text string, with ...string) *plan.Plan {
	t.Helper()
	c, err := rectest.Parse([]byte(strings.NewReplacer(append(slices.Clone(with), mediaFine...)...).Replace(text)))
	if err != nil {
		t.Fatal(err)
	}
	here := Recorded(c.Recording)
	here.Started = func(int) (uint64, error) { return 7, nil }
	p, err := Audit(c.Recording, audit.UDPMedia, audit.Design{}, here)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// topics are what an audit of media says something about, whatever the host.
var topics = []string{
	"receive buffers (net.core.rmem_max)", "receive buffers that no program asked for", "send buffers", "the memory of all UDP sockets", "the backlog of received packets",
	"rounds of receive work", "the flow limit of fq", "queue disciplines", "receive rings", "receive queues (RSS)", "receive work on other CPUs (RPS)", "send queues (XPS)",
	"interrupt coalescing", "receive offload (GRO)", "huge pages", "memory that is kept free", "descriptors",
}

func TestAnAuditOfMediaSaysSomethingOfEachTopic(t *testing.T) {
	p := auditedMedia(t, mediaHost)
	if len(p.Changes) != 0 || len(p.Advice) != 0 {
		text, _ := p.Text()
		t.Errorf("%s", text)
	}
	for _, topic := range topics {
		if !slices.ContainsFunc(p.Covered, func(c string) bool {
			return strings.HasPrefix(c, topic) && strings.Contains(c, ": not needed, because ")
		}) {
			t.Errorf("%s: nothing is said in\n%s", topic, strings.Join(p.Covered, "\n"))
		}
	}
	// Of a host that tells nothing each is "not seen", with the reason.
	p = auditedMedia(t, "A host.\n-- manifest --\n{\"seconds\": 30}\n")
	for _, topic := range topics {
		if !slices.ContainsFunc(p.Covered, func(c string) bool {
			return strings.HasPrefix(c, topic) && strings.Contains(c, ": not seen, because ")
		}) {
			t.Errorf("%s: nothing is said in\n%s", topic, strings.Join(p.Covered, "\n"))
		}
	}
}

func TestWhatAnAuditOfMediaNames(t *testing.T) {
	for name, c := range map[string]struct {
		with   []string
		change string
		advice string
	}{
		"it never asked and lost":   {[]string{"LOST", "904"}, "sysctl net.core.rmem_default: 212992 → 2097152", ""},
		"refused for want of room":  {[]string{"REFUSED", "3"}, "sysctl net.core.wmem_default: 212992 → 1048576", ""},
		"refused by the qdisc":      {[]string{"REFUSED", "3", "QDROPS", "3"}, "", "a longer limit of fq on eth0"},
		"a full backlog":            {[]string{"BACKLOG", "9", "SQUEEZED", "0"}, "sysctl net.core.netdev_max_backlog: 1000 → 4096", ""},
		"rounds that are too short": {[]string{"BACKLOG", "9"}, "sysctl net.core.netdev_budget_usecs: 2000 → 4000", ""},
		"one CPU":                   {[]string{"SOFTIRQ", "0.8"}, "", "more receive queues"},
		"an interrupt each":         {[]string{"USECS", "1", "PACKETS", "90000"}, "coalesce rx-usecs of eth0: 1 → 50", ""},
		"held back":                 {[]string{"USECS", "2000"}, "coalesce rx-usecs of eth0: 2000 → 50", ""},
		"no offload":                {[]string{"GRO", "false", "PACKETS", "90000"}, "feature rx-gro of eth0: off → on", ""},
		"compaction in faults":      {[]string{"DEFRAG", "always"}, "thp defrag: always → defer+madvise", ""},
		"no memory at once":         {[]string{"STALLS", "2"}, "sysctl vm.min_free_kbytes: 67584 → 135168", ""},
		"all of UDP":                {[]string{"UDPMEM", "200000"}, "sysctl net.ipv4.udp_mem: 190000 250000 380000 → 380000 500000 760000", ""},
		"hardly a descriptor":       {[]string{"FDS", "700"}, "", "nofile of process 80"},
	} {
		p := auditedMedia(t, mediaHost, c.with...)
		var got []string
		for _, c := range p.Changes {
			got = append(got, c.Target.String()+": "+c.Now+" → "+c.Then)
			if c.Why == "" || c.Risk == "" || c.Source == "" || !strings.Contains(c.Check, "it matters if: ") {
				t.Errorf("%s: %+v", name, c)
			}
		}
		told := ""
		for _, a := range p.Advice {
			told += a.Do + "\n"
		}
		if c.change != "" && !slices.Contains(got, c.change) || c.change == "" && len(got) > 0 || !strings.Contains(told, c.advice) {
			t.Errorf("%s: %q, %q", name, got, told)
		}
	}
}
