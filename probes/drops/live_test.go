package drops

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"snag/probes/probe"
	"snag/recording"
)

// memory is a sink that keeps what it is given.
type memory struct {
	mu      sync.Mutex
	rec     recording.Recording
	samples map[string]int
}

func (m *memory) Sample(_ recording.Time, name string, _ recording.Labels, _ float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.samples[name]++
}

func (m *memory) Append(row recording.Row) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rec.Add(row)
}

// coverage is the last row of a measure.
func (m *memory) coverage(measure string) recording.Coverage {
	m.mu.Lock()
	defer m.mu.Unlock()
	var last recording.Coverage
	for _, c := range m.rec.Coverage {
		if c.Probe == measure {
			last = c
		}
	}
	return last
}

// record runs the probe while f makes drops.
func record(t *testing.T, f func()) (*memory, []string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("counting drops needs root")
	}
	sink := &memory{samples: map[string]int{}}
	var mu sync.Mutex
	var notices []string
	env := &probe.Env{
		Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), SelfPID: os.Getpid(),
		Sink: sink, Watch: probe.NewWatch(10),
		Notice: func(s string) { mu.Lock(); notices = append(notices, s); mu.Unlock() },
	}
	r, err := Probe.Start(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	f()
	r.Stop()
	for _, d := range sink.rec.Drops {
		if len(sink.rec.Drops) < 100 {
			t.Logf("%+v", d)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	return sink, notices
}

// inNetns runs f on a thread in a new network namespace with loopback up. The
// namespace ends with the thread and what was opened in it.
func inNetns(t *testing.T, f func(inode uint64)) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		ns, err := netns.New()
		if err != nil {
			t.Errorf("making a network namespace: %v", err)
			return
		}
		defer ns.Close()
		run(t, "ip", "link", "set", "lo", "up")
		var st unix.Stat_t
		if err := unix.Fstat(int(ns), &st); err != nil {
			t.Error(err)
			return
		}
		f(st.Ino)
	}()
	<-done
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Errorf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
}

// send sends n datagrams from one socket; errors are what the test is about.
func send(t *testing.T, to string, n int) (from string) {
	t.Helper()
	c, err := net.Dial("udp", to)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer c.Close()
	for range n {
		_, _ = c.Write(make([]byte, 1000)) // ECONNREFUSED from the one before
	}
	return c.LocalAddr().String()
}

// total adds up the drops of a reason in a namespace. Kernels before 5.17 have
// no reasons: the place stands for it.
func total(rows []recording.Drop, reason, place string, ns uint64) (n uint64, first recording.Drop) {
	for _, d := range rows {
		if (d.Reason == reason || d.Reason == "" && d.Place == place) && d.Netns == ns && !d.Benign {
			if n == 0 {
				first = d
			}
			n += d.N
		}
	}
	return n, first
}

func TestPortClosed(t *testing.T) {
	var ns uint64
	var from string
	m, notices := record(t, func() {
		inNetns(t, func(inode uint64) {
			ns = inode
			from = send(t, "127.0.0.1:5004", 40)
		})
	})
	// A connected sender sees every second write refused, so not all are sent.
	n, d := total(m.rec.Drops, "NO_SOCKET", "__udp4_lib_rcv", ns)
	if n < 20 || n > 40 {
		t.Fatalf("%d drops NO_SOCKET in namespace %d, want 20 to 40", n, ns)
	}
	if d.Proto != "udp" || d.Src != from || d.Dst != "127.0.0.1:5004" || !strings.Contains(d.Place, "udp") || d.Device != "lo" {
		t.Errorf("row %+v, want udp %s → 127.0.0.1:5004 on lo", d, from)
	}
	if d.T < m.coverage("drops").Since {
		t.Errorf("row at %v, before the probe began", d.T)
	}
	if !hasStack(m, d.Stack, "udp") {
		t.Errorf("stack %d of %d stacks: none through UDP", d.Stack, len(m.rec.Stacks))
	}
	if !strings.Contains(strings.Join(notices, "\n"), d.Reason+" in __udp4_lib_rcv") && d.Reason != "" {
		t.Errorf("notices %q, want the first NO_SOCKET", notices)
	}
	for _, c := range []string{"drops", "drops.kfree_skb", "drops.reason", "drops.stacks"} {
		want := recording.CoverageOK
		if c == "drops.reason" && d.Reason == "" {
			want = recording.CoverageUnavailable
		}
		if got := m.coverage(c); got.State != want || got.Lost != 0 {
			t.Errorf("coverage %+v, want %s", got, want)
		}
	}
	if c := m.coverage("drops"); c.Cost <= 0 {
		t.Errorf("cost %v, want more than nothing", c.Cost)
	}
	if m.samples["snag_probe_cpu_seconds_total"] == 0 || m.samples["snag_probe_late_seconds"] == 0 {
		t.Errorf("samples %v, want the probe's own", m.samples)
	}
}

func hasStack(m *memory, id int, part string) bool {
	for _, s := range m.rec.Stacks {
		if s.ID == id && id != 0 && strings.Contains(strings.Join(s.Frames, " "), part) {
			return true
		}
	}
	return false
}

// TestReceiveBuffer floods a socket nobody reads: what the kernel counts on the
// socket (the drops column of /proc/net/udp) and what the probe counts are one.
func TestReceiveBuffer(t *testing.T) {
	var ns, inode, drops uint64
	const sent = 5000
	m, _ := record(t, func() {
		inNetns(t, func(id uint64) {
			ns = id
			s, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5006})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if err := s.SetReadBuffer(4096); err != nil {
				t.Error(err)
			}
			send(t, "127.0.0.1:5006", sent)
			inode, drops = udpDrops(t, 5006)
			time.Sleep(2500 * time.Millisecond) // the owner is looked for once a second, while it lives
		})
	})
	n, _ := total(m.rec.Drops, "SOCKET_RCVBUFF", "udp_queue_rcv_one_skb", ns)
	if drops < sent/2 || n != drops {
		t.Errorf("the socket counts %d drops, the probe %d", drops, n)
	}
	if c := m.coverage("drops.socket"); c.State == recording.CoverageUnavailable {
		t.Fatal("the victim socket: ", c.Why)
	}
	var socket uint64
	for _, d := range m.rec.Drops {
		if d.Inode != inode || d.Benign {
			continue
		}
		socket += d.N
		if d.PID != os.Getpid() || d.Comm == "" || d.Netns != ns || d.Sent || d.Dst != "127.0.0.1:5006" {
			t.Errorf("row %+v, want pid %d in namespace %d and 127.0.0.1:5006", d, os.Getpid(), ns)
		}
	}
	if socket != drops {
		t.Errorf("the socket counts %d drops, the probe %d of inode %d", drops, socket, inode)
	}
}

// udpDrops reads the inode and the drops of the socket on a port, in the
// namespace of the calling thread.
func udpDrops(t *testing.T, port int) (inode, drops uint64) {
	t.Helper()
	f, err := os.Open("/proc/thread-self/net/udp")
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		if len(fields) > 12 && strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", port)) {
			inode, _ = strconv.ParseUint(fields[9], 10, 64)
			drops, _ = strconv.ParseUint(fields[12], 10, 64)
		}
	}
	return inode, drops
}

func TestNetfilter(t *testing.T) {
	if _, err := exec.LookPath("nft"); err != nil {
		t.Fatal("nft is not installed: make setup installs it")
	}
	var ns uint64
	m, _ := record(t, func() {
		inNetns(t, func(id uint64) {
			ns = id
			run(t, "nft", "add table ip t; add chain ip t in { type filter hook input priority 0; }; add rule ip t in udp dport 5008 drop")
			send(t, "127.0.0.1:5008", 300)
		})
	})
	n, d := total(m.rec.Drops, "NETFILTER_DROP", "nft_do_chain", ns)
	if n != 300 || d.Dst != "127.0.0.1:5008" {
		t.Errorf("%d drops NETFILTER_DROP, first %+v, want 300 to 127.0.0.1:5008", n, d)
	}
}

// TestQdisc sends into a token bucket that is too small, from a socket whose
// process the row names as the sender.
func TestQdisc(t *testing.T) {
	var ns uint64
	m, _ := record(t, func() {
		inNetns(t, func(id uint64) {
			ns = id
			run(t, "ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1")
			run(t, "ip", "addr", "add", "10.77.0.1/24", "dev", "v0")
			run(t, "ip", "link", "set", "v0", "up")
			run(t, "ip", "link", "set", "v1", "up")
			run(t, "ip", "neigh", "add", "10.77.0.2", "lladdr", "02:00:00:00:00:02", "dev", "v0")
			run(t, "tc", "qdisc", "add", "dev", "v0", "root", "tbf", "rate", "100kbit", "burst", "5000", "limit", "5000")
			c, err := net.Dial("udp", "10.77.0.2:5010")
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for range 200 {
				_, _ = c.Write(make([]byte, 1000))
			}
			time.Sleep(1500 * time.Millisecond)
		})
	})
	n, d := total(m.rec.Drops, "QDISC_DROP", "__dev_queue_xmit", ns)
	if n < 150 || d.Device != "v0" || d.Dst != "10.77.0.2:5010" {
		t.Errorf("%d drops QDISC_DROP, first %+v, want most of 200 on v0", n, d)
	}
	if d.PID != os.Getpid() || !d.Sent {
		t.Errorf("row %+v, want the sender %d", d, os.Getpid())
	}
}

// TestManyKinds makes more kinds of drops than the map holds: the number stays
// exact, and coverage says that ports were left out.
func TestManyKinds(t *testing.T) {
	// The map is emptied every second: on a busy machine one round may take several, and fills none.
	const ports, rounds, quick = 30000, 20, 1500 * time.Millisecond
	sent := uint64(0)
	var ns uint64
	m, _ := record(t, func() {
		inNetns(t, func(id uint64) {
			ns = id
			c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 65000})
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for range rounds {
				begun := time.Now()
				for p := range ports {
					if _, err := c.WriteToUDP([]byte{0}, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1 + p}); err != nil {
						t.Error(err)
						return
					}
					sent++
				}
				if time.Since(begun) < quick {
					return
				}
			}
		})
	})
	n, _ := total(m.rec.Drops, "NO_SOCKET", "__udp4_lib_rcv", ns)
	if n != sent {
		t.Errorf("%d drops counted, want %d", n, sent)
	}
	if readings := m.samples["snag_probe_late_seconds"] + 2; len(m.rec.Drops) > readings*2*mostRows+100*readings {
		t.Errorf("%d rows in %d readings", len(m.rec.Drops), readings)
	}
	if c := m.coverage("drops.kfree_skb"); c.State != recording.CoveragePartial || !strings.Contains(c.Why, "ports") || c.Lost != 0 {
		t.Errorf("coverage %+v, want partial without losses", c)
	}
}

// TestNotAllowed runs the probe in a child without capabilities.
func TestNotAllowed(t *testing.T) {
	if os.Getenv("DROPS_WITHOUT_CAPS") != "" {
		_, err := Probe.Start(context.Background(), &probe.Env{Proc: "/proc", Sys: "/sys"})
		fmt.Printf("error: %v\n", err)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("giving up capabilities needs root")
	}
	c := exec.Command(os.Args[0], "-test.run=^TestNotAllowed$")
	c.Env = append(os.Environ(), "DROPS_WITHOUT_CAPS=1")
	var out []byte
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the bounding set is the thread's, and ends with it
		for _, capability := range []uintptr{unix.CAP_BPF, unix.CAP_PERFMON, unix.CAP_SYS_ADMIN} {
			if err = unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil {
				return
			}
		}
		out, err = c.CombinedOutput()
	}()
	<-done
	if err != nil || !strings.Contains(string(out), "CAP_BPF") || !strings.Contains(string(out), "run as root") {
		t.Errorf("without capabilities: %v, %s; want the capability and the cure named", err, out)
	}
}
