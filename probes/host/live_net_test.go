package host

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"snag/internal/netns"
	"snag/recording"
)

func inode(st os.FileInfo) uint64 { return st.Sys().(*syscall.Stat_t).Ino }

// inside runs f in the namespace; sockets that it opens stay there.
func inside(t testing.TB, n netns.Namespace, f func() error) {
	t.Helper()
	h, err := netns.Open(n)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.Do(f); err != nil {
		t.Fatal(err)
	}
}

func TestAFullReceiveBufferIsCountedInItsNamespace(t *testing.T) {
	n := namespace(t, "udp")
	p, _, sink := live(t)
	var in *net.UDPConn
	var out net.Conn
	inside(t, n, func() (err error) {
		if in, err = net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
			return err
		}
		out, err = net.Dial("udp", in.LocalAddr().String())
		return err
	})
	defer in.Close()
	defer out.Close()
	if err := in.SetReadBuffer(2048); err != nil {
		t.Fatal(err)
	}
	p.tick(0, false)
	for range 500 {
		if _, err := out.Write(make([]byte, 1200)); err != nil {
			t.Fatal(err)
		}
	}
	p.tick(0, true)
	r := sink.Recording()
	id := strconv.FormatUint(n.ID, 10)
	lost := increase(t, r, "node_netstat_Udp_RcvbufErrors", "netns", id)
	got := increase(t, r, "node_netstat_Udp_InDatagrams", "netns", id)
	sent := increase(t, r, "node_netstat_Udp_OutDatagrams", "netns", id)
	if sent != 500 || lost == 0 || lost > sent {
		t.Errorf("sent %g, lost %g, in %g", sent, lost, got)
	}
	if !sink.Noticed("receive buffer", n.Name, "Udp_RcvbufErrors") {
		t.Errorf("no notice of the loss in %s: %q", n.Name, sink.Notices())
	}
	for _, s := range r.Select("node_netstat_Udp_RcvbufErrors") {
		if s.Labels["netns"] == "" {
			if v, _ := s.Increase(); v >= lost {
				t.Errorf("the own namespace shows the loss of another: %g", v)
			}
		}
	}
	if _, ok := r.FactOf("net.core.somaxconn", n.ID); !ok {
		t.Error("no net.core.somaxconn of the namespace")
	}
	found := false
	for _, row := range r.Netns {
		found = found || row.ID == n.ID && row.Name == n.Name && fmt.Sprint(row.Addrs) == "[lo 127.0.0.1/8 lo ::1/128]"
	}
	if !found {
		t.Errorf("no row of %s with its addresses: %+v", n.Name, r.Netns)
	}
}

func TestDropsOfAChildQueueAreSeen(t *testing.T) {
	n := namespace(t, "tbf")
	run(t, "ip", "-n", n.Name, "link", "add", "v0", "numtxqueues", "2", "type", "veth", "peer", "name", "v1")
	run(t, "ip", "-n", n.Name, "addr", "add", "10.9.0.1/24", "dev", "v0")
	run(t, "ip", "-n", n.Name, "link", "set", "v0", "up")
	run(t, "ip", "-n", n.Name, "link", "set", "v1", "up")
	run(t, "ip", "-n", n.Name, "neigh", "add", "10.9.0.2", "lladdr", "02:00:00:00:00:02", "dev", "v0")
	run(t, "tc", "-n", n.Name, "qdisc", "replace", "dev", "v0", "root", "handle", "7:", "mq")
	for _, q := range []string{"1", "2"} {
		run(t, "tc", "-n", n.Name, "qdisc", "replace", "dev", "v0", "parent", "7:"+q, "handle", "7"+q+":",
			"tbf", "rate", "1mbit", "burst", "5k", "latency", "50ms")
	}
	p, _, sink := live(t)
	p.tick(0, false)
	inside(t, n, func() error {
		out, err := net.Dial("udp", "10.9.0.2:9")
		if err != nil {
			return err
		}
		defer out.Close()
		for range 400 {
			out.Write(make([]byte, 1200))
		}
		return nil
	})
	p.tick(0, true)
	r := sink.Recording()
	id := strconv.FormatUint(n.ID, 10)
	drops := increase(t, r, "node_qdisc_drops_total", "netns", id, "device", "v0", "handle", "71:", "kind", "tbf", "parent", "7:1") +
		increase(t, r, "node_qdisc_drops_total", "netns", id, "device", "v0", "handle", "72:", "kind", "tbf", "parent", "7:2")
	if discards := increase(t, r, "node_netstat_Ip_OutDiscards", "netns", id); drops < 100 || drops < discards || drops > discards+20 {
		// The few beyond are IPv6's own (router solicitations, MLD).
		t.Errorf("children dropped %g, OutDiscards %g: want nearly the same, of 400 sent at 1 Mbit/s", drops, discards)
	}
	if zero := r.Select("node_qdisc_drops_total", "kind", "noqueue"); len(zero) != 0 {
		t.Errorf("what has no queue counts no drops: %v", zero)
	}
	if !sink.Noticed("tbf", "v0", n.Name) {
		t.Errorf("no notice of the drops: %q", sink.Notices())
	}
	rows := 0
	for _, q := range r.Qdiscs {
		if q.Netns == n.ID && q.Kind == "tbf" {
			rows++
			if q.Options["rate"] != "1000000bit" || q.Options["burst"] != "5120b" || q.Options["latency"] != "50ms" {
				t.Errorf("options %v", q.Options)
			}
		}
	}
	if rows != 2 {
		t.Errorf("%d rows of tbf, want 2: one of each child, written once", rows)
	}
	for _, l := range r.Links {
		if l.Netns == n.ID && l.Name == "v0" && (l.Type != "veth" || l.Peer == 0 || !l.Up || l.Carrier == nil || !*l.Carrier) {
			t.Errorf("link %+v", l)
		}
	}
}

func TestBeyondTheBoundNamespacesAreListedAndToldNotMeasured(t *testing.T) {
	a, target := namespace(t, "bnda"), namespace(t, "bndt")
	p, env, sink := live(t)
	env.Target.NetnsID = target.ID
	p.spaces.most = 2
	p.tick(0, false)
	p.meter.writeCoverage()
	if p.spaces.open[env.Netns] == nil || p.spaces.open[target.ID] == nil || len(p.spaces.open) != 2 {
		t.Errorf("%d open, want the own one and the target's", len(p.spaces.open))
	}
	r := sink.Recording()
	listed := false
	for _, row := range r.Netns {
		listed = listed || row.ID == a.ID && row.Name == a.Name
	}
	c, measured := r.Measured("host.netstat")
	if !listed || !measured || c.State != recording.CoveragePartial || !strings.Contains(c.Why, "listed but not measured") {
		t.Errorf("listed %v, coverage %+v", listed, c)
	}
}

// Containers by the thousand: each interface is there, and those that go away
// between two ticks take nothing with them.
func TestThousandsOfInterfaces(t *testing.T) {
	const pairs = 1200
	n := namespace(t, "many")
	add, del := &strings.Builder{}, &strings.Builder{}
	for i := range pairs {
		fmt.Fprintf(add, "link add v%d type veth peer name w%d\n", i, i)
		if i%100 == 0 {
			fmt.Fprintf(del, "link del v%d\n", i)
		}
	}
	batch := filepath.Join(t.TempDir(), "batch")
	change := func(lines string) {
		t.Helper()
		if err := os.WriteFile(batch, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, "ip", "-n", n.Name, "-batch", batch)
	}
	change(add.String())
	p, env, sink := live(t)
	env.Target.NetnsID = n.ID
	p.tick(0, false)
	change(del.String())
	p.tick(1, false)
	p.meter.writeCoverage()
	r := sink.Recording()
	seen := map[string]bool{}
	for _, l := range r.Links {
		if l.Netns == n.ID {
			seen[l.Name] = true
		}
	}
	if want := 2*pairs + 1; len(seen) != want {
		t.Errorf("%d interfaces have a row, of %d", len(seen), want)
	}
	if c, measured := r.Measured("host.links"); !measured || c.State != recording.CoverageOK {
		t.Errorf("coverage %+v", c)
	}
	for device, want := range map[string]int{"v0": 1, "v1": 2} { // v0 went after the first tick
		series := r.Select("node_network_receive_packets_total", "netns", fmt.Sprint(n.ID), "device", device)
		if len(series) != 1 || len(series[0].Points) != want {
			t.Errorf("%s: %v, want one series of %d points", device, series, want)
		}
	}
}

func TestANamespaceThatGoesIsLetGoAndTold(t *testing.T) {
	n := namespace(t, "gone")
	p, _, sink := live(t)
	p.tick(0, false)
	if p.spaces.open[n.ID] == nil {
		t.Fatal("the namespace was not opened")
	}
	run(t, "ip", "netns", "del", n.Name)
	p.tick(0, false)
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if st, err := os.Stat("/proc/self/fd/" + fd.Name()); err == nil && inode(st) == n.ID {
			t.Error("the namespace is still held open")
		}
	}
	for _, e := range sink.Recording().Events {
		if e.Kind == recording.EventNetnsGone && e.Subject.Netns == n.ID && e.Subject.Name == n.Name {
			return
		}
	}
	t.Error("no event tells that it went")
}
