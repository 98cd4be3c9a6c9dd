package routes

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/netns"
	"snag/internal/nldump"
	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

func run(t testing.TB, command string) string {
	t.Helper()
	f := strings.Fields(command)
	out, err := exec.Command(f[0], f[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	return string(out)
}

// namespace makes a network namespace that the test removes.
func namespace(t testing.TB, short string) netns.Namespace {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to make network namespaces")
	}
	name := fmt.Sprintf("snag%s%d", short, os.Getpid())
	run(t, "ip netns add "+name)
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", name).Run() })
	run(t, "ip -n "+name+" link set lo up")
	path := filepath.Join("/run/netns", name)
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return netns.Namespace{ID: st.Ino, Name: name, Path: path}
}

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

// path makes client – router – far, with a link of 1,400 bytes behind the router,
// a blackhole, a neighbour that does not answer, rules, and a tracked connection.
func path(t testing.TB) (client, router netns.Namespace) {
	t.Helper()
	client, router = namespace(t, "c"), namespace(t, "r")
	far := namespace(t, "f")
	c, r, f := client.Name, router.Name, far.Name
	for _, line := range []string{
		"ip link add eth0 netns " + c + " type veth peer name eth0 netns " + r,
		"ip link add eth1 netns " + r + " type veth peer name eth0 netns " + f,
		"ip -n " + c + " addr add 10.9.1.1/24 dev eth0", "ip -n " + r + " addr add 10.9.1.2/24 dev eth0",
		"ip -n " + r + " addr add 10.9.2.1/24 dev eth1", "ip -n " + f + " addr add 10.9.2.2/24 dev eth0",
		"ip -n " + c + " link set eth0 up", "ip -n " + r + " link set eth0 up",
		"ip -n " + r + " link set eth1 up mtu 1400", "ip -n " + f + " link set eth0 up mtu 1400",
		"ip -n " + c + " route add default via 10.9.1.2", "ip -n " + f + " route add default via 10.9.2.1",
		"ip -n " + c + " route add blackhole 10.66.0.0/16",
		"ip -n " + c + " route add 10.55.0.0/16 metric 7 nexthop via 10.9.1.2 weight 2 nexthop dev eth0 weight 1",
		"ip netns exec " + r + " sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.eth1.rp_filter=1",
	} {
		run(t, line)
	}
	nft := exec.Command("ip", "netns", "exec", r, "nft", "-f", "-")
	nft.Stdin = strings.NewReader(`table inet guard {
		chain in { type filter hook input priority 0; policy drop; ct state established accept; udp dport 5006 counter drop; accept; }
		chain through { type filter hook forward priority 0; ip saddr 10.9.1.1 tcp dport 8080 counter reject; ip daddr 10.9.2.2 udp dport 7000 counter drop; }
	}`)
	if out, err := nft.CombinedOutput(); err != nil {
		t.Fatalf("nft: %v: %s", err, out)
	}
	inside(t, client, func() error {
		for _, d := range []struct {
			to   string
			size int
			n    int
		}{
			{"10.9.2.2:9", 1450, 3},   // too large for the far link: the router says so
			{"10.9.1.77:9", 10, 1},    // nobody
			{"10.9.1.2:5006", 100, 5}, // dropped at input
			{"10.9.2.2:7000", 100, 7}, // dropped on the way
		} {
			s, err := net.Dial("udp", d.to)
			if err != nil {
				return err
			}
			for range d.n {
				if _, err := s.Write(make([]byte, d.size)); err != nil && !isErrno(err, syscall.EMSGSIZE, syscall.ECONNREFUSED) {
					return err
				}
				time.Sleep(20 * time.Millisecond)
			}
			s.Close()
		}
		return nil
	})
	return client, router
}

func isErrno(err error, any ...syscall.Errno) bool {
	for _, e := range any {
		if strings.Contains(err.Error(), e.Error()) {
			return true
		}
	}
	return false
}

// look visits namespaces once.
func look(t testing.TB, all ...netns.Namespace) *recording.Recording {
	t.Helper()
	sink := probetest.NewSink()
	env := &probe.Env{Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), Netns: 1, Sink: sink, Watch: probe.NewWatch(4), Notice: sink.Notice}
	m := newMeter(env)
	m.since = m.env.Now()
	m.work.Begin()
	defer m.work.End()
	s := &shared{env: env, meter: m, reply: make([]byte, nldump.ReplyMost), nftables: true, ctnetlink: true}
	for _, n := range all {
		newSpace(n, s).visit(true)
	}
	m.writeCoverage()
	return sink.Recording()
}

func TestLive(t *testing.T) {
	client, router := path(t)
	r := look(t, client, router)
	for _, c := range r.Coverage {
		if c.State != recording.CoverageOK {
			t.Errorf("%s is %s: %s", c.Probe, c.State, c.Why)
		}
	}
	routes := map[string]recording.Route{}
	for _, row := range r.Routes {
		if row.Netns == client.ID {
			row.T, row.Netns = 0, 0
			if row.Exception && (row.Expires <= 0 || row.Expires > 600) {
				t.Errorf("the exception expires in %v s, want up to mtu_expires, 600 s", row.Expires)
			}
			row.Expires = 0
			routes[row.Dst] = row
		}
	}
	for _, want := range []recording.Route{
		{Dst: "0.0.0.0/0", Via: "10.9.1.2", Device: "eth0", In: 254},
		{Dst: "10.9.1.0/24", From: "10.9.1.1", Device: "eth0", In: 254},
		{Dst: "10.66.0.0/16", Type: "blackhole", In: 254},
		{Dst: "10.55.0.0/16", Via: "10.9.1.2", Device: "eth0", In: 254, Metric: 7, Hops: []string{"via 10.9.1.2 dev eth0 weight 2", "dev eth0 weight 1"}},
		{Dst: "10.9.2.2/32", Via: "10.9.1.2", Device: "eth0", In: 254, MTU: 1400, Exception: true},
	} {
		if got := routes[want.Dst]; fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("route %+v, want %+v", got, want)
		}
	}
	states := map[string]string{}
	for _, n := range r.Neighbours {
		if n.Netns == client.ID {
			states[n.Addr] = n.State
		}
	}
	if s := states["10.9.1.77"]; s != "INCOMPLETE" && s != "FAILED" {
		t.Errorf("the neighbour that is not there is %q", s)
	}
	if s := states["10.9.1.2"]; s != "REACHABLE" && s != "DELAY" && s != "STALE" {
		t.Errorf("the gateway is %q", s)
	}
	if v, ok := r.FactOf("net.ipv4.conf.eth1.rp_filter", router.ID); !ok || v != "1" {
		t.Errorf("rp_filter of eth1 is %q", v)
	}
	wantRules(t, r, router)
	entries := r.Select("node_nf_conntrack_entries", "netns", fmt.Sprint(router.ID))
	if len(entries) != 1 || entries[0].Points[0].V < 1 {
		t.Errorf("the router tracks %v, want some connections", entries)
	}
	if len(r.Select("node_nf_conntrack_stat_drop", "netns", fmt.Sprint(router.ID))) != 1 {
		t.Error("no statistics of connection tracking")
	}
}

func wantRules(t *testing.T, r *recording.Recording, router netns.Namespace) {
	t.Helper()
	var got []string
	for _, rule := range r.Rules {
		if rule.Netns != router.ID {
			continue
		}
		n := "-"
		if rule.Packets != nil {
			n = fmt.Sprint(*rule.Packets)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s %s: %s (%s)", rule.Family, rule.Of, rule.Chain, rule.Hook, rule.Verdict, n, rule.Text))
	}
	want := []string{
		"inet guard in input policy: - ()",
		"inet guard in input drop: 5 (udp dport 5006 counter drop)",
		"inet guard through forward reject: 0 (saddr 10.9.1.1 tcp dport 8080 counter reject)",
		"inet guard through forward drop: 7 (daddr 10.9.2.2 udp dport 7000 counter drop)",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rules:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestConntrackTwice reads the statistics by netlink and from the file: they are the
// same counts.
func TestConntrackTwice(t *testing.T) {
	_, router := path(t)
	env := &probe.Env{Proc: "/proc"}
	sp := newSpace(router, &shared{env: env, reply: make([]byte, nldump.ReplyMost)})
	inside(t, router, func() error {
		file, err := sp.stat("net/stat/nf_conntrack")
		if err != nil || file == nil {
			t.Skipf("no /proc/net/stat/nf_conntrack: %v", err)
		}
		asked, err := sp.conntrackByNetlink()
		if err != nil {
			return err
		}
		for _, field := range conntrackFields {
			if got, ok := asked[field]; ok && got != file[field] {
				t.Errorf("%s is %v by netlink and %v in the file", field, got, file[field])
			}
		}
		for _, field := range []string{"insert_failed", "drop", "early_drop"} {
			if _, ok := asked[field]; !ok {
				t.Errorf("netlink does not tell %s: %v", field, asked)
			}
		}
		return nil
	})
}

// TestOnlyChangesAreWritten visits twice: what stayed as it was has one row.
func TestOnlyChangesAreWritten(t *testing.T) {
	n := namespace(t, "o")
	run(t, "ip -n "+n.Name+" route add 10.44.0.0/16 dev lo")
	sink := probetest.NewSink()
	env := &probe.Env{Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), Netns: 1, Sink: sink}
	sp := newSpace(n, &shared{env: env, meter: newMeter(env), reply: make([]byte, nldump.ReplyMost), nftables: true, ctnetlink: true})
	sp.visit(true)
	sp.visit(true)
	run(t, "ip -n "+n.Name+" route change 10.44.0.0/16 dev lo mtu 1300")
	sp.visit(true)
	var mtus []int
	for _, row := range sink.Recording().Routes {
		if row.Dst == "10.44.0.0/16" {
			mtus = append(mtus, row.MTU)
		}
	}
	if fmt.Sprint(mtus) != "[0 1300]" {
		t.Errorf("the route's rows have MTUs %v, want one before and one after the change", mtus)
	}
}

// TestManyRulesAreBounded loads more rules that drop than are kept.
func TestManyRulesAreBounded(t *testing.T) {
	n := namespace(t, "m")
	var rules strings.Builder
	rules.WriteString("table ip many {\n chain c {\n")
	for i := range mostRows + 500 {
		fmt.Fprintf(&rules, "udp dport %d counter drop\n", i+1)
	}
	rules.WriteString("}\n}\n")
	nft := exec.Command("ip", "netns", "exec", n.Name, "nft", "-f", "-")
	nft.Stdin = strings.NewReader(rules.String())
	if out, err := nft.CombinedOutput(); err != nil {
		t.Fatalf("nft: %v: %s", err, out)
	}
	r := look(t, n)
	if len(r.Rules) != mostRows {
		t.Errorf("%d rules were kept, want %d", len(r.Rules), mostRows)
	}
	c, _ := r.Measured("routes.rules")
	if c.State != recording.CoveragePartial || !strings.Contains(c.Why, "256 that drop are kept") {
		t.Errorf("coverage %s: %s, want partial and why", c.State, c.Why)
	}
}

// TestStartAndStop runs the probe as snag find does.
func TestStartAndStop(t *testing.T) {
	own, err := netns.IDOf("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	sink := probetest.NewSink()
	env := &probe.Env{Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), Netns: own, Sink: sink, Watch: probe.NewWatch(4), Notice: sink.Notice}
	running, err := Probe.Start(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(1500 * time.Millisecond)
	running.Stop()
	r := sink.Recording()
	if len(r.Routes) == 0 {
		t.Error("the own namespace has no route")
	}
	for _, m := range []string{"routes.table", "routes.neighbours", "routes.conntrack"} {
		if c, ok := r.Measured(m); !ok {
			t.Errorf("%s: %s: %s", m, c.State, c.Why)
		}
	}
}
