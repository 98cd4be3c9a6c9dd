package remedies

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
	"snag/remedies/audit"
	"snag/remedies/conflict"
	"snag/remedies/plan"
)

const aHost = `A host with the kernel's own settings, and a few that are not.
-- manifest --
{"seconds": 30}
-- netns --
{"t": 0, "id": 1, "own": true, "addrs": ["eth0 10.0.0.1/24", "eth1 10.1.0.1/24"]}
-- samples --
node_memory_MemTotal_bytes 8589934592+0x29
node_vmstat_pswpout 100+RATEx29
-- nics --
{"t": 0, "device": "eth0", "driver": "ixgbe", "speed": 10000, "rings": {"rx": RING, "rx_max": 4096}, "channels": {"combined": CHANNELS, "combined_max": 63}}
-- queues --
{"t": 0, "netns": 1, "device": "eth0", "dir": "tx", "index": 0, "xps_cpus": "XPS0"}
{"t": 0, "netns": 1, "device": "eth0", "dir": "tx", "index": 1, "xps_cpus": "XPS1"}
-- qdiscs --
{"t": 0, "netns": 1, "device": "eth0", "kind": "fq", "handle": "8001:", "parent": "root", "options": {"limit": "10000p", "flow_limit": "FLOWp"}}
-- facts --
{"t": 0, "name": "net.core.rmem_max", "value": "RMEM", "source": "x"}
{"t": 0, "name": "net.core.rmem_default", "value": "212992", "source": "x"}
{"t": 0, "name": "net.ipv4.tcp_rmem", "value": "4096 131072 TCPMEM", "source": "x"}
{"t": 0, "name": "net.ipv4.tcp_wmem", "value": "4096 16384 TCPMEM", "source": "x"}
{"t": 0, "name": "net.ipv4.tcp_mtu_probing", "value": "PROBING", "source": "x"}
{"t": 0, "name": "net.ipv4.tcp_slow_start_after_idle", "value": "IDLE", "source": "x"}
{"t": 0, "name": "net.core.somaxconn", "value": "4096", "source": "x"}
{"t": 0, "name": "net.ipv4.ip_local_port_range", "value": "32768 60999", "source": "x"}
{"t": 0, "name": "net.ipv4.conf.all.rp_filter", "value": "0", "source": "x"}
{"t": 0, "name": "net.ipv4.conf.eth1.rp_filter", "value": "FILTER", "source": "x"}
{"t": 0, "name": "transparent_hugepage.defrag", "value": "DEFRAG", "source": "x"}
{"t": 0, "name": "vm.swappiness", "value": "60", "source": "x"}
{"t": 0, "name": "vm.zone_reclaim_mode", "value": "ZONE", "source": "x"}
{"t": 0, "name": "swaps", "value": "/dev/sda2", "source": "x"}
-- processes --
{"t": 0, "pid": 80, "comm": "nginx", "netns": 1, "uid": 0, "state": "S", "threads": 1, "cpu_seconds": 1, "fds": FDS, "fd_limit": 1024, "fd_hard": 524288}
-- sockets --
{"t": 0, "netns": 1, "proto": "tcp", "state": "LISTEN", "local": "10.0.0.1:80", "inode": 9, "recv_q": 0, "send_q": BACKLOG, "drops": 0, "owners": [{"pid": 80, "comm": "nginx", "fd": 5}]}
{"t": 0, "netns": 1, "proto": "tcp", "state": "ESTABLISHED", "local": "10.0.0.1:4000", "remote": "10.0.0.9:80", "inode": 10, "drops": 0, "owners": [{"pid": 81, "comm": "api", "fd": 5}], "options": {"nodelay": NODELAY}, "tcp": {"min_rtt": 0.05, "snd_mss": 1448, "bytes_sent": 20000, "data_segs_out": 100, "data_segs_in": 100, "bytes_received": 0}}
{"t": 20, "netns": 1, "proto": "tcp", "state": "ESTABLISHED", "local": "10.0.0.1:4000", "remote": "10.0.0.9:80", "inode": 10, "drops": 0, "owners": [{"pid": 81, "comm": "api", "fd": 5}], "options": {"nodelay": NODELAY}, "tcp": {"min_rtt": 0.05, "snd_mss": 1448, "bytes_sent": 20000, "data_segs_out": 100, "data_segs_in": 100, "bytes_received": GOT}}
-- ports --
{"t": 0, "netns": 1, "local": "10.0.0.1", "remote": "10.0.0.9:80", "in_use": PORTS, "time_wait": 1, "low": 32768, "high": 60999}
-- connections --
{"t": "0..29", "netns": 1, "role": "accept", "local": "10.0.0.1:80", "remote": "10.0.0.2", "pid": 80, "comm": "nginx", "opened": 600, "failed": 0, "closed": 0, "short": 0, "lifetime_sum": 0, "bytes_in": 0, "bytes_out": 0, "handshake_sum": 0, "handshake_max": 0}
`

// What of aHost is as it should be, and as it should not.
var fine = []string{"RATE", "0", "RING", "4096", "CHANNELS", "8", "FLOW", "1000", "RMEM", "8388608", "TCPMEM", "6291456", "PROBING", "1", "IDLE", "0",
	"FILTER", "2", "DEFRAG", "madvise", "ZONE", "0", "FDS", "40", "BACKLOG", "4096", "NODELAY", "true", "PORTS", "100", "XPS0", "0", "XPS1", "1", "GOT", "1000000"}

func audited(t *testing.T, role audit.Role, with ...string) *plan.Plan {
	t.Helper()
	c, err := rectest.Parse([]byte(strings.NewReplacer(append(slices.Clone(with), fine...)...).Replace(aHost)))
	if err != nil {
		t.Fatal(err)
	}
	here := Recorded(c.Recording)
	facts := conflict.FactsOf(c.Recording)
	here.Conflicts = func(p *plan.Plan) []string { return conflict.Of(p, facts) }
	here.Started = func(int) (uint64, error) { return 7, nil }
	p, err := Audit(c.Recording, role, audit.Design{}, here)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A host whose settings are as the role needs them gets no change, and is told so.
func TestAnAuditOfAHostThatNothingIsWrongWith(t *testing.T) {
	for _, role := range audit.Roles {
		p := audited(t, role)
		text, _ := p.Text()
		if len(p.Changes) > 0 || len(p.Advice) > 0 || len(p.Covered) < 3 || !strings.Contains(p.For.Text, "nothing is too small") {
			t.Errorf("%s:\n%s", role, text)
		}
	}
}

func TestWhatAnAuditNames(t *testing.T) {
	for name, c := range map[string]struct {
		role   audit.Role
		with   []string
		change string // as the target and value
		advice string
	}{
		"a small rmem_max":     {audit.UDPMedia, []string{"RMEM", "212992"}, "sysctl net.core.rmem_max: 212992 → 1048576", ""},
		"fq's default":         {audit.UDPMedia, []string{"FLOW", "100"}, "qdisc flow_limit root of eth0: 100 → 500", ""},
		"a strict filter":      {audit.UDPMedia, []string{"FILTER", "1"}, "sysctl net.ipv4.conf.eth1.rp_filter: 1 → 2", ""},
		"a short ring":         {audit.RPC, []string{"RING", "128"}, "ring rx of eth0: 128 → 4096", ""},
		"one queue":            {audit.RPC, []string{"CHANNELS", "1"}, "channels combined of eth0: 1 → 2", ""},
		"a small window":       {audit.TCPStream, []string{"TCPMEM", "524288"}, "sysctl net.ipv4.tcp_rmem: 4096 131072 524288 → 4096 131072 1048576", ""},
		"much on its way":      {audit.TCPStream, []string{"GOT", "1600000000"}, "sysctl net.ipv4.tcp_rmem: 4096 131072 6291456 → 4096 131072 8388608", ""}, // 2 × 80 MB/s × 50 ms
		"no send masks":        {audit.TCPStream, []string{"XPS0", "", "XPS1", ""}, "xps of eth0 queue 1: 0 → 2", ""},
		"after idle":           {audit.TCPStream, []string{"IDLE", "1"}, "sysctl net.ipv4.tcp_slow_start_after_idle: 1 → 0", ""},
		"no probing":           {audit.TCPStream, []string{"PROBING", "0"}, "sysctl net.ipv4.tcp_mtu_probing: 0 → 1", ""},
		"a short backlog":      {audit.RPC, []string{"BACKLOG", "128"}, "", "listen(fd, 512)"},
		"hardly a descriptor":  {audit.Cache, []string{"FDS", "700"}, "", "nofile of process 80 → 65536:524288"},
		"few ports":            {audit.RPC, []string{"PORTS", "20000"}, "sysctl net.ipv4.ip_local_port_range: 32768 60999 → 1024 65535", ""},
		"compaction in faults": {audit.Cache, []string{"DEFRAG", "always"}, "thp defrag: always → defer+madvise", ""},
		"a cache that swaps":   {audit.Cache, []string{"RATE", "50"}, "sysctl vm.swappiness: 60 → 10", ""},
		"zones":                {audit.Cache, []string{"ZONE", "1"}, "sysctl vm.zone_reclaim_mode: 1 → 0", ""},
		"Nagle":                {audit.RPC, []string{"NODELAY", "false"}, "", "TCP_NODELAY"},
	} {
		p := audited(t, c.role, c.with...)
		var got []string
		for _, c := range p.Changes {
			got = append(got, c.Target.String()+": "+c.Now+" → "+c.Then)
			if c.Why == "" || c.Risk == "" || c.Source == "" || !strings.Contains(c.Check, "snag find names it") && !strings.Contains(c.Check, "cwnd") || c.Target.Kind == "xps" && *c.Target.Queue == 1 && !slices.Equal(c.With, []string{"1"}) {
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

func TestARoleThatIsNone(t *testing.T) {
	if _, err := Audit(&recording.Recording{}, "web", audit.Design{}, Here{}); err == nil || !strings.Contains(err.Error(), "udp-media, tcp-stream, cache, rpc") {
		t.Error(err)
	}
}

// On hosts that nothing is wrong with the list is short: most have nothing on it.
func TestAuditsOfHealthyHostsAreShort(t *testing.T) {
	files, _ := filepath.Glob("../lab/recordings/*-healthy.snag")
	if len(files) < 30 {
		t.Fatalf("%d recordings", len(files))
	}
	changes, audits := 0, 0
	for _, file := range files[:30] { // all are made alike: a part tells
		r, err := recording.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, role := range audit.Roles {
			p, err := Audit(r, role, audit.Design{}, Recorded(r))
			if err != nil {
				t.Fatal(err)
			}
			audits++
			changes += len(p.Changes)
			if len(p.Changes) > 2 {
				text, _ := p.Text()
				t.Errorf("%s, %s:\n%s", file, role, text)
			}
		}
	}
	if 2*changes > audits {
		t.Errorf("%d changes in %d audits of healthy hosts", changes, audits)
	}
	t.Logf("%d changes in %d audits", changes, audits)
}
