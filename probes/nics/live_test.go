package nics

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/internal/netns"
	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

func live(t *testing.T) (*sampler, *probetest.Sink) {
	t.Helper()
	own, err := netns.IDOf("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	sink := probetest.NewSink()
	env := &probe.Env{Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), Netns: own, Sink: sink, Watch: probe.NewWatch(8), Notice: sink.Notice}
	s := newSampler(env)
	s.ledger.since = env.Now()
	s.ledger.work.Begin()
	t.Cleanup(s.ledger.work.End)
	t.Cleanup(s.statistics.close)
	return s, sink
}

func command(t *testing.T, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(argv, " "), err, out)
	}
}

func coverage(t *testing.T, sink *probetest.Sink, measure string) recording.Coverage {
	t.Helper()
	c, _ := sink.Recording().Measured(measure)
	return c
}

// An interface in another namespace is told by its driver and channels; that it
// goes while it is recorded is no error, and what /sys can't show of it is said.
func TestInterfacesComeAndGoInANamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making network namespaces needs root")
	}
	ns := fmt.Sprintf("snagnics%d", os.Getpid())
	command(t, "ip", "netns", "add", ns)
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", ns).Run() })
	command(t, "ip", "-n", ns, "link", "add", "v0", "numrxqueues", "4", "numtxqueues", "2", "type", "veth", "peer", "name", "v1")

	s, sink := live(t)
	s.tick(0, false)
	command(t, "ip", "-n", ns, "link", "del", "v0")
	s.tick(0, false)
	time.Sleep(2 * time.Millisecond) // two values of one series at the same millisecond are one
	s.tick(0, true)
	s.ledger.write()

	var row *recording.NIC
	for _, n := range sink.Recording().NICs {
		if n.Device == "v0" {
			row = &n
		}
	}
	if row == nil || row.Driver != "veth" || row.Bus != "" || row.Netns == s.env.Netns {
		t.Fatalf("v0 is %+v", row)
	}
	if c := row.Channels; c == nil || c.RxMax == nil || *c.RxMax != 4 || c.TxMax == nil || *c.TxMax != 2 || c.Combined != nil {
		t.Errorf("v0's channels are %+v", c)
	}
	for _, n := range sink.Recording().NICs {
		// The one driver of many that the machines have on which this runs.
		if n.Driver == "virtio_net" && n.Netns == s.env.Netns {
			series := sink.Recording().Select("node_ethtool_received_drops", "device", n.Device)
			if len(series) != 1 || len(series[0].Points) != 3 {
				t.Errorf("the drops of %s: %+v", n.Device, series)
			}
		}
	}
	if c := coverage(t, sink, "nics.settings"); c.State != recording.CoverageOK {
		t.Errorf("settings: %s %s", c.State, c.Why)
	}
	if c := coverage(t, sink, "nics.queues"); c.State != recording.CoveragePartial || !strings.Contains(c.Why, "/sys shows those of its own") {
		t.Errorf("queues: %s %q", c.State, c.Why)
	}
	for _, m := range []string{"nics.interrupts", "nics.softirqs", "nics.statistics"} {
		if c := coverage(t, sink, m); c.State != recording.CoverageOK && !strings.Contains(c.Why, "namespaces") {
			t.Errorf("%s: %s %s", m, c.State, c.Why)
		}
	}
}

// Loopback traffic raises NET_RX: the counters that grew are there, from the value
// before.
func TestSoftirqsOfThisMachine(t *testing.T) {
	s, sink := live(t)
	s.tick(0, false)
	for range 200 { // the timer's own softirqs would do; this makes sure
		command(t, "true")
	}
	s.tick(0, true)
	grown := 0.0
	for _, series := range sink.Recording().Select("node_softirqs_functions_total") {
		n, ok := series.Increase()
		if !ok || n <= 0 || series.Labels["cpu"] == "" {
			t.Errorf("%s grew by %v", series.Key(), n)
		}
		grown += n
	}
	if grown == 0 {
		t.Error("no softirq ran")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A host of 64 CPUs: masks in two groups, a damaged one, an interrupt that is
// pinned, one that no driver asked for.
func TestReadsQueuesAndInterruptsOfATree(t *testing.T) {
	root := t.TempDir()
	q := filepath.Join(root, "sys/class/net/eth0/queues")
	write(t, q+"/rx-0/rps_cpus", "00000001,80000001\n")
	write(t, q+"/rx-0/rps_flow_cnt", "4096\n")
	write(t, q+"/rx-1/rps_cpus", "0x3\n")
	write(t, q+"/tx-0/xps_cpus", "00000000,000000ff\n")
	write(t, q+"/odd", "")
	write(t, filepath.Join(root, "sys/class/net/eth0/device/msi_irqs/55"), "msix\n")
	write(t, filepath.Join(root, "sys/class/net/eth0/device/msi_irqs/56"), "msix\n")
	write(t, filepath.Join(root, "proc/irq/55/smp_affinity_list"), "0-63\n")
	write(t, filepath.Join(root, "proc/irq/55/effective_affinity_list"), "0\n")

	write(t, filepath.Join(root, "sys/class/net/eth0/device/numa_node"), "1\n")
	write(t, filepath.Join(root, "sys/devices/system/node/node0/cpulist"), "0-31\n")
	write(t, filepath.Join(root, "sys/devices/system/node/node1/cpulist"), "32-63\n")

	sink := probetest.NewSink()
	env := &probe.Env{Proc: filepath.Join(root, "proc"), Sys: filepath.Join(root, "sys"), Netns: 1, Sink: sink}
	l := newLedger(env)
	queues := queues{env: env, ledger: l, last: map[queueKey]recording.Queue{}, irqs: map[irqKey]recording.IRQ{}}
	for range 2 { // the second reading finds nothing new
		if err := queues.measure([]string{"eth0", "gone"}, map[int]string{55: "eth0-TxRx-0"}); err == nil || !strings.Contains(err.Error(), `"0x3"`) {
			t.Errorf("the damaged mask: %v", err)
		}
	}
	r := sink.Recording()
	if len(r.Queues) != 3 || len(r.IRQs) != 1 {
		t.Fatalf("%d queues and %d interrupts: %+v %+v", len(r.Queues), len(r.IRQs), r.Queues, r.IRQs)
	}
	for _, row := range r.Queues {
		switch {
		case row.Dir == "rx" && row.Index == 0 && (row.RPS == nil || *row.RPS != "0,31-32" || row.Flows == nil || *row.Flows != 4096):
			t.Errorf("rx-0 is %+v", row)
		case row.Dir == "rx" && row.Index == 1 && (row.RPS != nil || row.Flows != nil):
			t.Errorf("rx-1 is %+v: what can't be read is not 0", row)
		case row.Dir == "tx" && (row.XPS == nil || *row.XPS != "0-7"):
			t.Errorf("tx-0 is %+v", row)
		}
	}
	node, _ := r.FactOf("nic.eth0.numa_node", 0)
	if cpus, _ := r.FactOf("numa."+node+".cpus", 0); cpus != "32-63" || len(r.Facts) != 3 {
		t.Errorf("facts of nodes: %+v", r.Facts)
	}
	if i := r.IRQs[0]; i.Number != 55 || i.Name != "eth0-TxRx-0" || i.Allowed != "0-63" || i.Effective != "0" {
		t.Errorf("interrupt %+v", i)
	}
}

func TestNoSysfsAndNoProcAreSaid(t *testing.T) {
	sink := probetest.NewSink()
	env := &probe.Env{Proc: "/nonexistent", Sys: "/nonexistent", Netns: 1, Sink: sink}
	s := newSampler(env)
	s.ledger.run("nics.interrupts", s.interrupts.measure)
	s.ledger.run("nics.queues", func(recording.Time) error { return s.queues.measure([]string{"eth0"}, nil) })
	s.ledger.write()
	for _, m := range []string{"nics.interrupts", "nics.queues"} {
		if c := coverage(t, sink, m); c.State != recording.CoverageUnavailable || c.Why == "" || c.Cure == "" {
			t.Errorf("%s: %+v", m, c)
		}
	}
}
