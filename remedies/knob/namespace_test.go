package knob

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snag/remedies/plan"
)

// namespace makes a network namespace; in runs a command there.
func namespace(t *testing.T, commands ...string) (name string, in func(words string) []string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	name = "snagtest" + strconv.Itoa(os.Getpid()) + strconv.Itoa(len(t.Name()))
	output(t, "ip", "netns", "add", name)()
	t.Cleanup(func() { output(t, "ip", "netns", "delete", name)() })
	in = func(words string) []string {
		return append([]string{"ip", "netns", "exec", name}, strings.Fields(words)...)
	}
	for _, c := range commands {
		output(t, in(c)...)()
	}
	return name, in
}

const pair = "ip link add nic0 numtxqueues 4 numrxqueues 4 type veth peer name nic1 numtxqueues 4 numrxqueues 4"

func TestQdiscs(t *testing.T) {
	name, in := namespace(t, pair, "ip link set nic0 up", "ip link set nic1 up")
	show := output(t, in("tc -d qdisc show dev nic0")...)
	root := plan.Target{Kind: "qdisc", Device: "nic0", Netns: name}
	// Nobody made noqueue: what snag puts there goes when it is undone.
	turn(t, root, "pfifo limit 777", show, "limit 777p")
	turn(t, root, "tbf rate 8mbit burst 20kb limit 64kb", show, "rate 8Mbit burst 20Kb")
	turn(t, root, "mq", show, "qdisc mq")
	// One of the same kind is a new one: what is not named is the kernel's own.
	output(t, in("tc qdisc replace dev nic0 root handle 9: pfifo limit 55")...)()
	if err := (qdisc{}).Write(Real(), root, "pfifo"); err != nil || !strings.Contains(show(), "limit 1000p") {
		t.Errorf("%v\n%s", err, show())
	}

	output(t, in("tc qdisc replace dev nic0 root handle 10: bfifo limit 30000")...)()
	limit := root
	limit.Name = "limit"
	turn(t, limit, "123456", show, "limit 123456b")
	output(t, in("tc qdisc replace dev nic0 root handle 11: tbf rate 10mbit burst 32768 limit 300000")...)()
	turn(t, limit, "600000", show, "lat ")
	rate := root
	rate.Name = "rate"
	turn(t, rate, "80000000", show, "rate 80Mbit burst 32Kb")

	output(t, in("tc qdisc replace dev nic0 root handle 12: mq")...)()
	output(t, in("tc qdisc replace dev nic0 parent 12:3 handle 30: pfifo limit 100")...)()
	child := limit
	child.Parent = "12:3"
	turn(t, child, "4000", show, "limit 4000p")
	two := 2
	child.Parent, child.Queue = "", &two
	turn(t, child, "5000", show, "limit 5000p")

	for what, c := range map[string]struct {
		target plan.Target
		value  string
		want   string
	}{
		"what hangs below would be lost":     {root, "pfifo limit 5", "would be lost"},
		"an option of another kind":          {plan.Target{Kind: "qdisc", Device: "nic0", Netns: name, Name: "flow_limit"}, "100", "which is mq"},
		"no such class":                      {plan.Target{Kind: "qdisc", Device: "nic0", Netns: name, Name: "limit", Parent: "99:1"}, "100", "has no qdisc there"},
		"an interface that is not there":     {plan.Target{Kind: "qdisc", Device: "nic7", Netns: name, Name: "limit"}, "100", "find interface nic7"},
		"a namespace that is not there":      {plan.Target{Kind: "qdisc", Device: "nic0", Netns: name + "x", Name: "limit"}, "100", "ip netns list"},
		"a queue that the interface has not": {plan.Target{Kind: "qdisc", Device: "nic0", Netns: name, Name: "limit", Queue: pointer(7)}, "100", "has no qdisc there"},
	} {
		err := (qdisc{}).Write(Real(), c.target, c.value)
		want := strings.Replace(c.want, "which is mq", "which has no such option", 1)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
}

func pointer(n int) *int { return &n }

// TestQueuesOfTheKernelsOwnMQ has a tap of two queues, to which the kernel gives mq.
func TestQueuesOfTheKernelsOwnMQ(t *testing.T) {
	name, in := namespace(t)
	err := inNamed(name, func() error {
		for range 2 {
			fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			t.Cleanup(func() { unix.Close(fd) })
			r, err := unix.NewIfreq("tap0")
			if err != nil {
				return err
			}
			r.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_MULTI_QUEUE)
			if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, r); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, unix.ENOENT) {
		t.Skip("this kernel has no tun")
	}
	if err != nil {
		t.Fatal(err)
	}
	output(t, in("ip link set tap0 up")...)()
	show := output(t, in("tc qdisc show dev tap0")...)
	if !strings.Contains(show(), "qdisc mq 0: root") {
		t.Fatalf("the kernel gave the tap no mq:\n%s", show())
	}
	queue := plan.Target{Kind: "qdisc", Device: "tap0", Netns: name, Queue: pointer(1)}
	old, err := Kinds["qdisc"].Read(Real(), queue)
	if err != nil {
		t.Fatal(err)
	}
	if err := Kinds["qdisc"].Write(Real(), queue, "pfifo limit 4321"); err != nil {
		t.Fatal(err)
	}
	if got := show(); strings.Count(got, "limit 4321p") != 1 || !strings.Contains(got, ":2 limit 4321p") {
		t.Errorf("after setting the second queue:\n%s", got)
	}
	if err := Kinds["qdisc"].Write(Real(), queue, old); err != nil {
		t.Fatal(err)
	}
	if got, err := Kinds["qdisc"].Read(Real(), queue); err != nil || got != old || strings.Contains(show(), "pfifo ") {
		t.Errorf("put back to %q: %q, %v\n%s", old, got, err, show())
	}
	root := plan.Target{Kind: "qdisc", Device: "tap0", Netns: name}
	if err := Kinds["qdisc"].Write(Real(), root, "pfifo limit 5"); err == nil || !strings.Contains(err.Error(), "would be lost") {
		t.Errorf("a queue has its own qdisc: %v", err)
	}
}

func TestChannelsAndFeatures(t *testing.T) {
	name, in := namespace(t, pair, "ip link set nic0 up")
	turn(t, plan.Target{Kind: "channels", Name: "rx", Device: "nic0", Netns: name}, "3", output(t, in("ethtool -l nic0")...), "RX:		3")
	turn(t, plan.Target{Kind: "channels", Name: "tx", Device: "nic0", Netns: name}, "2", output(t, in("ethtool -l nic0")...), "TX:		2")
	turn(t, plan.Target{Kind: "feature", Name: "rx-gro", Device: "nic0", Netns: name}, "on", output(t, in("ethtool -k nic0")...), "generic-receive-offload: on")
	turn(t, plan.Target{Kind: "feature", Name: "tx-tcp-segmentation", Device: "nic0", Netns: name}, "off", output(t, in("ethtool -k nic0")...), "tx-tcp-segmentation: off")
	if most, ok, err := Most(Real(), plan.Target{Kind: "channels", Name: "rx", Device: "nic0", Netns: name}); most != 4 || !ok || err != nil {
		t.Errorf("the most channels: %d, %v, %v", most, ok, err)
	}
	for _, c := range []struct {
		target plan.Target
		value  string
		want   string
	}{
		{plan.Target{Kind: "channels", Name: "rx"}, "5", "takes 4 at most"},
		{plan.Target{Kind: "channels", Name: "combined"}, "1", "no such channel"},
		{plan.Target{Kind: "channels", Name: "rx"}, "0", "the kernel says: "},
		{plan.Target{Kind: "feature", Name: "rx-ntuple-filter"}, "on", "it is fixed"},
		{plan.Target{Kind: "feature", Name: "no-such-feature"}, "on", "no such feature"},
		{plan.Target{Kind: "feature", Name: "tx-checksumming"}, "off", "stands for several"},
		{plan.Target{Kind: "coalesce", Name: "adaptive-rx"}, "on", "can't"},
	} {
		c.target.Device, c.target.Netns = "nic0", name
		if err := Kinds[c.target.Kind].Write(Real(), c.target, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s to %s: %v, want %q", c.target, c.value, err, c.want)
		}
	}
	gone := plan.Target{Kind: "channels", Name: "rx", Device: "nic7", Netns: name}
	if _, err := Kinds["channels"].Read(Real(), gone); !errors.Is(err, ErrAbsent) {
		t.Errorf("an interface that is gone: %v", err)
	}
}

// TestQueuesInANamespace sets what /sys holds of a namespace's interface, and looks for
// a mount that stays.
func TestQueuesInANamespace(t *testing.T) {
	name, in := namespace(t, pair)
	before, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	cat := func(file string) func() string {
		return output(t, in("cat /sys/class/net/nic0/queues/"+file)...)
	}
	turn(t, plan.Target{Kind: "rps", Device: "nic0", Netns: name, Queue: pointer(2)}, "1", cat("rx-2/rps_cpus"), "1\n")
	turn(t, plan.Target{Kind: "rfs", Device: "nic0", Netns: name, Queue: pointer(0)}, "4096", cat("rx-0/rps_flow_cnt"), "4096")
	turn(t, plan.Target{Kind: "xps", Device: "nic0", Netns: name, Queue: pointer(1)}, "1", cat("tx-1/xps_cpus"), "1\n")
	after, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Count(string(after), "sysfs") != strings.Count(string(before), "sysfs") {
		t.Errorf("mounts before:\n%s\nand after (%v):\n%s", before, err, after)
	}
}

// TestANamespaceWithoutAName is that of a process, as a container's.
func TestANamespaceWithoutAName(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &unix.SysProcAttr{Unshareflags: unix.CLONE_NEWNET}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	defer stop()
	pid := strconv.Itoa(cmd.Process.Pid)
	started, err := Started("/proc", cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	enter := func(words string) func() string {
		return output(t, append([]string{"nsenter", "-t", pid, "-n"}, strings.Fields(words)...)...)
	}
	enter(pair)()
	enter("ip link set nic0 up")()
	in := "pid:" + pid
	turn(t, plan.Target{Kind: "sysctl", Name: "net.core.somaxconn", Netns: in, Started: started}, "12345", enter("cat /proc/sys/net/core/somaxconn"), "12345")
	turn(t, plan.Target{Kind: "txqueuelen", Device: "nic0", Netns: in, Started: started}, "777", enter("ip link show dev nic0"), "qlen 777")
	turn(t, plan.Target{Kind: "qdisc", Device: "nic0", Netns: in, Started: started}, "bfifo limit 99999", enter("tc qdisc show dev nic0"), "limit 99999b")
	turn(t, plan.Target{Kind: "channels", Name: "tx", Device: "nic0", Netns: in, Started: started}, "3", enter("ethtool -l nic0"), "TX:		3")
	turn(t, plan.Target{Kind: "rfs", Device: "nic0", Netns: in, Started: started, Queue: pointer(1)}, "512", enter("ip link show dev nic0"), "nic0")

	target := plan.Target{Kind: "sysctl", Name: "net.core.somaxconn", Netns: in}
	if err := Kinds["sysctl"].Valid(target, "4096"); err == nil || !strings.Contains(err.Error(), "when its process started") {
		t.Errorf("without the start: %v", err)
	}
	target.Started = started + 1
	if err := Kinds["sysctl"].Write(Real(), target, "4096"); !errors.Is(err, ErrAbsent) {
		t.Errorf("another process with that number: %v", err)
	}
	stop()
	target.Started = started
	if err := Kinds["sysctl"].Write(Real(), target, "4096"); !errors.Is(err, ErrAbsent) {
		t.Errorf("a process that ended: %v", err)
	}
	for _, bad := range []string{"pid:", "pid:0", "pid:-1", "pid:1x", "pid:01"} {
		target.Netns = bad
		if err := Kinds["sysctl"].Valid(target, "4096"); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestQdiscsOfModules needs a kernel with fq and fq_codel: Debian's, in a virtual
// machine (tools/vm/run.sh).
func TestQdiscsOfModules(t *testing.T) {
	name, _ := namespace(t, pair, "ip link set nic0 up", "ip link set nic1 up")
	if out, err := exec.Command("tc", "-n", name, "qdisc", "add", "dev", "nic1", "root", "fq").CombinedOutput(); err != nil {
		t.Skipf("this kernel has no fq: %s", out)
	}
	show := output(t, "tc", "-n", name, "-d", "qdisc", "show", "dev", "nic0")
	root := plan.Target{Kind: "qdisc", Device: "nic0", Netns: name}
	turn(t, root, "fq limit 20000 flow_limit 1000 quantum 3028 initial_quantum 15140 maxrate 100mbit orphan_mask 2047 nopacing", show, "flow_limit 1000p")
	turn(t, root, "fq_codel limit 20480 flows 4096 target 10ms interval 200ms quantum 1514 memory_limit 33554432 noecn", show, "limit 20480p flows 4096")
	for _, c := range []struct {
		command string
		options map[string]string
	}{
		{"fq limit 3000 flow_limit 50", map[string]string{"flow_limit": "777", "limit": "9999", "quantum": "5000", "initial_quantum": "20000", "maxrate": "8000000", "orphan_mask": "4095", "pacing": "0", "buckets": "2048"}},
		{"fq_codel limit 3000", map[string]string{"limit": "9999", "flows": "64", "target": "20000", "interval": "300000", "quantum": "700", "ecn": "0", "memory_limit": "1000000"}},
	} {
		output(t, strings.Fields("tc -n "+name+" qdisc replace dev nic0 root "+c.command)...)()
		for option, value := range c.options {
			target := root
			target.Name = option
			k := Kinds["qdisc"]
			old, err := k.Read(Real(), target)
			if err != nil {
				t.Error(err)
				continue
			}
			whole, err := k.Read(Real(), root)
			if err != nil {
				t.Error(err)
			}
			if err := k.Write(Real(), target, value); err != nil {
				t.Error(err)
			}
			if got, err := k.Read(Real(), target); err != nil || !k.Same(target, got, value) {
				t.Errorf("%s: %q, %v; want %q", target, got, err, value)
			}
			if err := k.Write(Real(), target, old); err != nil {
				t.Error(err)
			}
			if got, err := k.Read(Real(), root); err != nil || !sameQdisc(got, whole) {
				t.Errorf("%s put back: %q, %v; it was %q", target, got, err, whole)
			}
		}
	}
	// A whole fq with all its options comes back after another took its place.
	output(t, strings.Fields("tc -n "+name+" qdisc replace dev nic0 root fq limit 3000 flow_limit 50 quantum 4000 maxrate 50mbit")...)()
	whole, err := Kinds["qdisc"].Read(Real(), root)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(whole)
	for _, words := range []string{"pfifo limit 100", whole} {
		if err := Kinds["qdisc"].Write(Real(), root, words); err != nil {
			t.Error(err)
		}
	}
	if got, err := Kinds["qdisc"].Read(Real(), root); err != nil || got != whole {
		t.Errorf("put back: %q, %v; it was %q", got, err, whole)
	}
}
