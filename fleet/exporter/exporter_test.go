package exporter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/fleet/exporter/exportertest"
	"snag/suspects"
)

var now = time.Date(2026, 11, 30, 14, 17, 28, 0, time.UTC)

// read asks a made-up store for all of its hosts.
func read(t *testing.T, s *exportertest.Store) *Hosts {
	t.Helper()
	hs, err := Find(t.Context(), s, "", now)
	if err != nil {
		t.Fatal(err)
	}
	if err := hs.Read(t.Context(), s, hs.All); err != nil {
		t.Fatal(err)
	}
	return hs
}

func lines(h *Host) string {
	var out []string
	for _, s := range h.Signs {
		out = append(out, s.String())
	}
	return strings.Join(out, "\n")
}

type change map[string]float64

// cases have what of a healthy host is changed, the sign that it makes, and a change that is just too small for it.
var cases = []struct {
	name     string
	now      change
	want     string
	innocent change
}{
	{"listen-overflow", change{"overflows": 1.04, "listen drops": 1.04}, "listen-overflow: 312 connects dropped, an accept queue was full (usual 0)", change{"overflows": 0.006}},
	{"syn-flood", change{"listen drops": 10}, "syn-flood: 3,000 SYNs dropped before any accept queue was full (usual 0)", change{"listen drops": 0.1}},
	{"syn-flood", change{"cookies": 10}, "syn-flood: 3,000 SYNs answered with cookies, their queue was full (usual 0)", change{"cookies": 0.1}},
	{"packet-loss", change{"again": 12}, "packet-loss: 1.2 % of TCP's segments sent again, 3,600 (usual 0.002 %)", change{"again": 4}},
	{"packet-loss", change{"again": 0.2, "segments": 2}, "packet-loss: 10 % of TCP's segments sent again, 60 (usual 0.002 %)", change{"again": 0.02, "segments": 0.2}},
	{"udp-receive-buffer-full", change{"udp full": 2}, "udp-receive-buffer-full: 600 datagrams dropped, read too slowly (usual 0)", change{"udp full": 0.05}},
	{"udp-receive-buffer-full", change{"udp6 full": 2}, "udp-receive-buffer-full: 600 datagrams dropped, read too slowly (usual 0)", change{"udp6 full": 0.05}},
	{"conntrack-full", change{"entries": 230000}, "conntrack-full: 230,000 of 262,144 entries taken, 88 % (usual 0.8 %)", change{"entries": 200000}},
	{"conntrack-full", change{"entries": 262000, "untracked": 2}, "conntrack-full: 600 packets dropped, 262,000 of 262,144 entries (usual 0)", change{"entries limit": 0}},
	{"softnet-backlog", change{"backlog drops": 1}, "softnet-backlog: 300 packets dropped, backlog full; squeezed 3 times (usual 0)", change{"squeezes": 50}},
	{"nic-ring-overflow", change{"fifo in/eth0": 1}, "nic-ring-overflow: eth0 dropped 300 packets, its ring was full (usual 0)", change{"fifo in/eth0": 0.001}},
	{"nic-drops", change{"drops in/eth0": 10}, "nic-drops: eth0: 3,000 of 303,000 packets received dropped (usual 0)", change{"drops in/eth0": 4}},
	{"nic-drops", change{"drops out/eth0": 10}, "nic-drops: eth0: 3,000 of 303,000 packets to send dropped (usual 0)", change{"drops out/eth0": 4}},
	{"nic-errors", change{"errors in/eth0": 10}, "nic-errors: eth0: 3,000 of 303,000 packets received damaged (usual 0)", change{"errors in/eth0": 4}},
	{"nic-errors", change{"errors out/eth0": 10}, "nic-errors: eth0: 3,000 of 303,000 packets to send failed (usual 0)", change{"errors out/eth0": 4}},
	{"qdisc-drop", change{"qdisc drops/eth0": 1}, "qdisc-drop: the queue of eth0 dropped 300 packets (usual 0)", nil},
	{"time-wait", change{"time-wait": 27000}, "time-wait: 27,000 in TIME-WAIT; to one server, ports run out (usual 300)", change{"time-wait": 22000}},
	{"orphans", change{"orphans": 9000}, "orphans: 9,000 closed connections still hold memory (usual 2)", change{"orphans": 4000}},
	{"cpu-saturated", change{"idle": 0.1, "iowait": 0.02, "load": 34}, "cpu-saturated: 4 CPUs busy 97 % of the time, load 34 (usual 17 %)", change{"idle": 0.4}},
	{"cpu-saturated", change{"steal": 0.3, "idle": 2.9}, "cpu-saturated: the hypervisor took 30 % of the CPU time asked for (usual 0 %)", change{"steal": 0.05}},
	{"softirq-on-one-cpu", change{"softirq": 0.92}, "softirq-on-one-cpu: one CPU of 4 in softirqs 92 % of the time (usual 5 %)", change{"softirq": 0.7}},
	{"run-queue-wait", change{"waits for cpu": 0.34}, "run-queue-wait: threads waited for a CPU 34 % of the time (usual 2 %)", change{"waits for cpu": 0.1}},
	{"disk-stall", change{"disk busy/sda": 0.97, "disk time/sda": 8.4}, "disk-stall: sda takes 84 ms per request, busy 97 % of the time (usual 10 %)", change{"disk busy/sda": 0.97, "disk time/sda": 1}},
	{"disk-stall", change{"disk busy/sda": 0.9, "disk time/sda": 1.1, "read time/sda": 1, "reads/sda": 10}, "disk-stall: sda takes 100 ms per request, busy 90 % of the time (usual 10 %)", change{"disk time/sda": 90}},
	{"disk-stall", change{"stalled by io": 0.23}, "disk-stall: all tasks waited for a disk 23 % of the time (usual 0.1 %)", change{"stalled by io": 0.05}},
	{"service-killed", change{"oom kills": 2.0 / 300}, "service-killed: the kernel killed 2 processes for want of memory (usual 0)", change{"oom kills": 0.001}},
	{"swap", change{"swapped in": 300, "swapped out": 20, "major faults": 90}, "swap: 300 pages per second read back from swap, 20 written (usual 0)", change{"major faults": 90, "swapped out": 100}},
	{"memory-pressure", change{"waits for memory": 0.2}, "memory-pressure: tasks waited for memory 20 % of the time (usual 0 %)", change{"waits for memory": 0.05}},
	{"memory-low", change{"available": 0.3e9}, "memory-low: 286.1 MiB of 14.9 GiB of memory left (usual 44 %)", change{"available": 2e9}},
	{"tcp-memory", change{"tcp memory": 2e9}, "tcp-memory: 1.9 GiB in TCP's buffers, near tcp_mem's default (usual 3.8 MiB)", change{"tcp memory": 0.5e9}},
	{"file-table", change{"files": 980000}, "file-table: 980,000 of 1,000,000 open files of fs.file-max (usual 0.4 %)", change{"files": 900000}},
	{"clock", change{"synchronized": 0}, "clock: not synchronized: no time server corrects it", nil},
	{"clock", change{"offset": -0.12}, "clock: 120 ms off its time server", change{"offset": 0.01}},
	{"clock", change{"clock ahead": -300}, "clock: 300 s behind the store's", change{"clock ahead": 4}},
	{"rebooted", change{"boot": float64(now.Add(-190 * time.Second).Unix())}, "rebooted: booted 3 min 10 s before", change{"boot": float64(now.Add(-2 * time.Hour).Unix())}},
}

// Each sign has its case, the healthy host none, and a value just below the floor none.
func TestSigns(t *testing.T) {
	apply := func(c change) *exportertest.Store {
		s := &exportertest.Store{}
		h := s.Add(now, "10.0.0.9:9100", "db-1")
		for name, v := range c {
			h.Now[name] = v
		}
		return s
	}
	if got := lines(read(t, apply(nil)).All[0]); got != "" {
		t.Errorf("a healthy host: %s", got)
	}
	for _, c := range cases {
		h := read(t, apply(c.now)).All[0]
		if got := lines(h); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
			continue
		}
		if n := len([]rune(c.want)); n > 78 {
			t.Errorf("%s: %d columns, which do not fit on a terminal: %s", c.name, n, c.want)
		}
		if is := suspects.ByName(c.name) != nil; h.Signs[0].Suspect != is || h.Signs[0].Name != c.name {
			t.Errorf("%s: of a suspect: %t; in the catalogue: %t", c.name, h.Signs[0].Suspect, is)
		}
		if got := lines(read(t, apply(c.innocent)).All[0]); got != "" {
			t.Errorf("%s, too little of it: %s", c.name, got)
		}
	}
}

// A collector that is off is not seen, and is no zero: no sign comes of it, and its name is there.
func TestCollectorsThatAreMissing(t *testing.T) {
	for _, c := range checks {
		for _, need := range c.needs {
			s := &exportertest.Store{}
			h := s.Add(now, "10.0.0.9:9100", "db-1")
			h.Now["idle"], h.Now["iowait"] = 0.1, 0 // busy, where that is read
			for name := range h.Now {
				if what, _, _ := strings.Cut(name, "/"); what == need {
					delete(h.Now, name)
				}
			}
			got := read(t, s).All[0]
			if !slices.Contains(got.Unread, c.collector) {
				t.Errorf("without %s nothing of %s is said to be missing: %v", need, c.collector, got.Unread)
			}
			if busy := strings.Contains(lines(got), "cpu-saturated"); busy == (need == "idle" || need == "cpus") {
				t.Errorf("without %s: %s", need, lines(got))
			}
		}
	}
	s := &exportertest.Store{}
	h := s.Add(now, "10.0.0.9:9100", "db-1")
	h.Now, h.Usual = nil, nil
	if got := read(t, s).All[0]; len(got.Signs) != 0 || len(got.Unread) != 14 {
		t.Errorf("%v %v", got.Signs, got.Unread)
	}
}

// What is usual is known only of a host that was scraped for most of the hour before. What is no news comes last, and
// is not hidden: a trouble may last for longer than an hour.
func TestTheHourBefore(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h *exportertest.Host)
		want   string
	}{
		"no hour before":    {func(h *exportertest.Host) { h.Usual = nil }, "packet-loss: 1.2 % of TCP's segments sent again, 3,600 (usual not known)"},
		"a quarter of it":   {func(h *exportertest.Host) { h.Usual["samples"] = 60 }, "packet-loss: 1.2 % of TCP's segments sent again, 3,600 (usual not known)"},
		"one counter":       {func(h *exportertest.Host) { delete(h.Usual, "segments") }, "packet-loss: 1.2 % of TCP's segments sent again, 3,600 (usual not known)"},
		"as much":           {func(h *exportertest.Host) { h.Usual["again"] = 12 }, "packet-loss: 1.2 % of TCP's segments sent again, 3,600 (usual 1.2 %)"},
		"no segment at all": {func(h *exportertest.Host) { h.Usual["segments"] = 0 }, "packet-loss: 1.2 % of TCP's segments sent again, 3,600 (usual 0 %)"},
	} {
		s := &exportertest.Store{}
		h := s.Add(now, "10.0.0.9:9100", "db-1")
		h.Now["again"] = 12
		c.change(h)
		if got := lines(read(t, s).All[0]); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	s := &exportertest.Store{}
	h := s.Add(now, "10.0.0.9:9100", "db-1")
	h.Now["overflows"], h.Usual["overflows"] = 1, 1
	h.Now["oom kills"], h.Now["synchronized"], h.Now["boot"] = 1, 0, float64(now.Unix()-60)
	if got := read(t, s).All[0]; len(got.Signs) != 4 || got.Signs[0].Name != "rebooted" || got.Signs[1].Name != "service-killed" || got.Signs[2].New() || got.Signs[3].New() {
		t.Errorf("%s", lines(got))
	}
}

// Set-ups label their hosts in different ways.
func TestNames(t *testing.T) {
	for name, c := range map[string]struct {
		labels   map[string]string
		nodename string
		want     string
	}{
		"an address":                         {map[string]string{"instance": "10.0.0.9:9100"}, "db-1", "db-1 [db-1] [10.0.0.9]"},
		"IPv6":                               {map[string]string{"instance": "[fd00::9]:9100"}, "db-1", "db-1 [db-1] [fd00::9]"},
		"a name":                             {map[string]string{"instance": "db-1.example.com:9100"}, "db-1", "db-1 [db-1 db-1.example.com] []"},
		"no uname":                           {map[string]string{"instance": "db-1.example.com:9100"}, "", "db-1.example.com [db-1.example.com] []"},
		"in a container":                     {map[string]string{"instance": "10.0.0.9:9100"}, "3f2a9c01b7de", "10.0.0.9 [] [10.0.0.9]"},
		"relabelled host":                    {map[string]string{"instance": "localhost:9100", "host": "DB-1"}, "x", "DB-1 [db-1 x] []"},
		"Kubernetes' node":                   {map[string]string{"instance": "10.0.0.9:9100", "node": "worker-3"}, "ip-10-0-0-9", "worker-3 [worker-3 ip-10-0-0-9] [10.0.0.9]"},
		"instance has the node, and no port": {map[string]string{"instance": "worker-3"}, "", "worker-3 [worker-3] []"},
	} {
		s := &exportertest.Store{}
		h := s.Add(now, "", c.nodename)
		h.Labels = c.labels
		got := read(t, s).All[0]
		if text := fmt.Sprint(got.Name, got.Names, got.Addresses); strings.ReplaceAll(text, " ", "") != strings.ReplaceAll(c.want, " ", "") {
			t.Errorf("%s: %s", name, text)
		}
	}
	s := &exportertest.Store{Nodes: [][2]string{{"worker-3", "10.0.0.9"}, {"other", "10.0.0.8"}}}
	s.Add(now, "worker-3", "").Addresses = []string{"10.0.7.7", "127.0.0.1", "fe80::1"}
	if got := read(t, s).All[0]; fmt.Sprint(got.Addresses) != "[10.0.7.7 10.0.0.9]" {
		t.Errorf("%v", got.Addresses)
	}
}

// Hosts with one name: one that came back at another address is one host, two that are scraped are two.
func TestHostsWithOneName(t *testing.T) {
	s := &exportertest.Store{}
	s.Add(now, "10.0.0.8:9100", "db-1").Down = true
	s.Add(now, "10.0.0.9:9100", "db-1")
	s.Add(now, "10.0.1.1:9100", "ubuntu")
	s.Add(now, "10.0.1.2:9100", "ubuntu").Now["boot"]++ // two machines
	s.Add(now, "localhost:9100", "").Labels["host"] = "a"
	s.Add(now, "localhost:9100", "").Labels["host"] = "b"
	s.Add(now, "10.0.2.1:9100", "web-1") // two jobs scrape one
	s.Add(now, "web-1.example.com:9100", "web-1")
	s.Add(now, "10.0.2.9:9101", "web-1").Labels["host"] = "web-one"
	s.Add(now, "10.0.3.1:9100", "gone").Down = true
	var got []string
	for _, h := range read(t, s).All {
		got = append(got, fmt.Sprint(h.Name, " ", h.Scraped, " ", h.Names))
	}
	const want = "a true [a], b true [b], db-1 true [db-1], gone false [gone], ubuntu (10.0.1.1:9100) true [], ubuntu (10.0.1.2:9100) true [], web-one true [web-one web-1 web-1.example.com]"
	if text := strings.Join(got, ", "); text != want {
		t.Error(text)
	}
}

// The number of queries does not grow with the hosts, and of a few hosts in a large store only these are asked for.
func TestWhatIsAsked(t *testing.T) {
	ask := func(n, of int) *exportertest.Store {
		s := &exportertest.Store{}
		for i := range n {
			s.Add(now, fmt.Sprintf("10.1.%d.%d:9100", i/250, i%250), fmt.Sprintf("node-%d", i)).Now["overflows"] = 1
		}
		hs, err := Find(t.Context(), s, "", now)
		if err != nil {
			t.Fatal(err)
		}
		if err := hs.Read(t.Context(), s, hs.All[:of]); err != nil {
			t.Fatal(err)
		}
		for i, h := range hs.All {
			if (len(h.Signs) == 1) != (i < of) {
				t.Fatalf("%s: %v", h.Name, h.Signs)
			}
		}
		return s
	}
	few, many := ask(1, 1), ask(1000, 1000)
	for _, q := range many.Asked {
		if strings.Contains(q, "[60m] offset") && !strings.Contains(q, "netstat") && !strings.Contains(q, "boot_time") {
			t.Errorf("the hour before is read of what looks right: %s", q)
		}
	}
	if len(few.Asked) != len(many.Asked) || len(few.Asked) > 36 {
		t.Errorf("%d and %d queries", len(few.Asked), len(many.Asked))
	}
	some := ask(1000, 3)
	if last := some.Asked[len(some.Asked)-1]; strings.Count(last, "10\\\\.1\\\\.") != 3*strings.Count(last, "instance=~") {
		t.Errorf("more is asked for than three hosts: %s", last)
	}
	if s := (&exportertest.Store{}); len(read(t, s).All) != 0 || len(s.Asked) != 1 {
		t.Errorf("a store without node_exporter is asked %d times", len(s.Asked))
	}
}

func TestChosen(t *testing.T) {
	s := &exportertest.Store{}
	s.Add(now, "10.0.0.8:9100", "a").Labels["role"] = "edge"
	s.Add(now, "10.0.0.9:9100", "b")
	hs, err := Find(t.Context(), s, `role="edge"`, now)
	if err != nil || len(hs.All) != 2 || !hs.All[0].Chosen || hs.All[1].Chosen {
		t.Errorf("%+v %v", hs, err)
	}
}

// What the store refuses is not seen, and the rest is.
func TestAStoreThatRefusesOne(t *testing.T) {
	s := &exportertest.Store{Refuse: map[string]error{"node_cpu_seconds_total": errors.New("too many samples")}, Warn: []string{"store-2: deadline"}}
	h := s.Add(now, "10.0.0.9:9100", "db-1")
	h.Now["idle"], h.Now["overflows"] = 0, 1
	hs := read(t, s)
	if got := hs.All[0]; len(got.Signs) != 1 || !slices.Contains(got.Unread, "cpu") {
		t.Errorf("%s %v", lines(got), got.Unread)
	}
	if want := []string{"the store: store-2: deadline", "node_exporter's cpu: too many samples"}; !slices.Equal(hs.Failed, want) {
		t.Errorf("%q", hs.Failed)
	}
	s.Refuse = map[string]error{"[60m] offset": errors.New("too many samples")}
	hs = read(t, s)
	if got := hs.All[0]; len(got.Signs) != 2 || got.Signs[0].Usual != nil || !slices.Contains(hs.Failed, "node_exporter's netstat in the hour before: too many samples") {
		t.Errorf("%s %q", lines(got), hs.Failed)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Refuse = map[string]error{"": context.Canceled}
	if err := hs.Read(ctx, s, hs.All); err == nil {
		t.Error("all queries fail and it goes on")
	}
	if _, err := Find(t.Context(), s, "", now); err == nil {
		t.Error("a store that does not answer has no hosts")
	}
}
