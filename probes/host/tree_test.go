package host

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

// copied is a copy of testdata/tree with more files, as env.Proc and env.Sys.
func copied(t *testing.T, files map[string]string) (*prober, *probe.Env, *probetest.Sink) {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("testdata/tree")); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		put(t, filepath.Join(root, name), content)
	}
	_, env, sink := live(t)
	env.Proc, env.Sys = filepath.Join(root, "proc"), filepath.Join(root, "sys")
	env.Netns, env.SelfPID = 4026531840, 9
	machine, err := newMachine(env)
	if err != nil {
		t.Fatal(err)
	}
	p := newProber(env, machine)
	p.spaces.set.NameDirs = nil
	t.Cleanup(p.spaces.close)
	p.meter.since = env.Now()
	p.meter.work.Begin()
	t.Cleanup(p.meter.work.End)
	return p, env, sink
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	os.Remove(path)
	if target, ok := strings.CutPrefix(content, "-> "); ok {
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// rewrite changes a file that is held open.
func rewrite(t *testing.T, path, old, new string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s has no %q", path, old)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), old, new, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// nginx is a process of a copied tree: stopped or not, with a socket.
func nginx(state string) map[string]string {
	return map[string]string{
		"proc/812/stat":    "812 (nginx) " + state + " 1 812 812 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 4 0 100 1 1",
		"proc/812/cgroup":  "0::/system.slice/nginx.service\n",
		"proc/812/limits":  "Max open files            10                   4096                 files\n",
		"proc/812/cmdline": "nginx: worker\x00-g\x00",
		"proc/812/ns/net":  "-> net:[4026531840]",
		"proc/812/fd/0":    "-> /dev/null",
		"proc/812/fd/1":    "-> socket:[77]",
		"proc/812/exe":     "-> /usr/sbin/nginx",
		"proc/2/stat":      "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0",

		"sys/fs/cgroup/cgroup.controllers":                  "cpu io memory\n",
		"sys/fs/cgroup/cgroup.procs":                        "",
		"sys/fs/cgroup/cpu.stat":                            "usage_usec 9\n",
		"sys/fs/cgroup/system.slice/cpu.max":                "max 100000\n",
		"sys/fs/cgroup/system.slice/cpu.stat":               "usage_usec 5\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n",
		"sys/fs/cgroup/system.slice/nginx.service/cpu.max":  "50000 100000\n",
		"sys/fs/cgroup/system.slice/nginx.service/cpu.stat": "usage_usec 3000000\nnr_periods 10\nnr_throttled 4\nthrottled_usec 200000\n",
		"proc/sys/net/core/rmem_max":                        "212992\n",
		"proc/sys/net/ipv4/tcp_rmem":                        "4096\t131072\t6291456\n",
		"proc/sys/kernel/osrelease":                         "6.1.0-18-amd64\n",
	}
}

func TestATreeIsRecordedUnderNodeExportersNames(t *testing.T) {
	p, env, sink := copied(t, nginx("S"))
	p.tick(0, false)
	rewrite(t, env.Proc+"/net/snmp", "Udp: 73 0 0 74 0 0 0 0 0", "Udp: 93 3 20 74 20 0 0 0 7")
	rewrite(t, env.Sys+"/fs/cgroup/system.slice/nginx.service/cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_usec 200000", "nr_periods 20\nnr_throttled 9\nthrottled_usec 700000")
	p.tick(0, true)
	r := sink.Recording()
	group := "/system.slice/nginx.service"
	for _, c := range []struct {
		name  string
		pairs []string
		want  float64
	}{
		{"node_netstat_Udp_RcvbufErrors", nil, 20},
		{"node_netstat_Udp_NoPorts", nil, 3},
		{"node_netstat_Udp_MemErrors", nil, 7},
		{"node_netstat_TcpExt_ListenOverflows", nil, 0},
		{"node_softnet_dropped_total", []string{"cpu", "0"}, 0},
		{"node_cpu_seconds_total", []string{"cpu", "1", "mode", "softirq"}, 0},
		{"node_sockstat_TCP_mem_bytes", nil, 0},
		{"node_sockstat_sockets_used", nil, 0},
		{"node_pressure_io_stalled_seconds_total", nil, 0},
		{"node_context_switches_total", nil, 0},
		{"node_filefd_allocated", nil, 0},
		{"snag_cgroup_cpu_throttled_periods_total", []string{"cgroup", group}, 5},
		{"snag_cgroup_cpu_throttled_seconds_total", []string{"cgroup", group}, 0.5},
		{"snag_cgroup_cpu_usage_seconds_total", []string{"cgroup", group}, 0},
	} {
		if got := increase(t, r, c.name, c.pairs...); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s%v grew by %g, want %g", c.name, c.pairs, got, c.want)
		}
	}
	if got, _ := r.Select("node_cpu_seconds_total", "cpu", "1", "mode", "user")[0].Last(); got != 59.15 {
		t.Errorf("user time of CPU 1: %g s, want 59.15", got)
	}
	if got, _ := r.Select("node_pressure_cpu_waiting_seconds_total")[0].Last(); got < 33 || got > 34 {
		t.Errorf("cpu pressure %g s", got)
	}
	if len(r.Cgroups) != 1 || r.Cgroups[0].Path != group || r.Cgroups[0].Quota != 0.05 || r.Cgroups[0].Period != 0.1 || r.Cgroups[0].Unit != "nginx.service" || r.Cgroups[0].Version != 2 {
		t.Errorf("cgroups %+v", r.Cgroups)
	}
	row := lastRow(r, 812)
	if row == nil {
		t.Fatal("no row of nginx")
	}
	if got := fmt.Sprint(row.PID, row.PPID, row.Comm, row.Exe, row.Cmdline); row.Cgroup != group || row.Unit != "nginx.service" || row.CPU != 3 || row.Threads != 4 ||
		row.FDs == nil || *row.FDs != 2 || row.FDLimit != 10 || row.FDHard != 4096 || row.Netns != 4026531840 || got != "812 1nginx/usr/sbin/nginxnginx: worker -g" {
		t.Errorf("row %+v", *row)
	}
	if lastRow(r, 2) != nil {
		t.Error("a row of a kernel thread")
	}
	for name, value := range map[string]string{"net.core.rmem_max": "212992", "net.ipv4.tcp_rmem": "4096 131072 6291456", "kernel.release": "6.1.0-18-amd64"} {
		if got, ok := r.FactOf(name, 0); !ok || got != value {
			t.Errorf("%s = %q, want %q", name, got, value)
		}
	}
	if got, ok := r.FactOf("net.ipv4.tcp_rmem", 4026531840); !ok || got != "4096 131072 6291456" {
		t.Errorf("net.ipv4.tcp_rmem of the own namespace: %q", got)
	}
	if _, ok := r.FactOf("net.core.somaxconn", 0); ok {
		t.Error("a fact that was not to be read")
	}
	if c, ok := r.Measured("host.sysctl"); !ok || c.State != recording.CoveragePartial || !strings.Contains(c.Why, "not shown") {
		t.Errorf("coverage %+v", c)
	}
	if s := r.Select("node_cpu_seconds_total", "mode", "softirq"); len(s) != 2 || len(s[0].Points) != 2 {
		t.Errorf("series %v", s)
	}
}

func TestACounterThatLeavesZeroBringsItsZero(t *testing.T) {
	p, env, sink := copied(t, nil)
	p.tick(0, false)
	if got := sink.Recording().Select("node_netstat_UdpLite_NoPorts"); len(got) != 0 {
		t.Fatal("a counter out of the catalogue is written while it is 0")
	}
	rewrite(t, env.Proc+"/net/snmp", "UdpLite: 0 0", "UdpLite: 0 5")
	p.tick(0, false)
	if got := increase(t, sink.Recording(), "node_netstat_UdpLite_NoPorts"); got != 5 {
		t.Errorf("grew by %g, want 5", got)
	}
}

func TestWhatAHostDoesNotHaveIsUnavailable(t *testing.T) {
	p, env, sink := copied(t, nil)
	for _, gone := range []string{"pressure", "net/softnet_stat"} {
		if err := os.RemoveAll(filepath.Join(env.Proc, gone)); err != nil {
			t.Fatal(err)
		}
	}
	p.tick(0, false)
	p.tick(0, true)
	p.meter.writeCoverage()
	r := sink.Recording()
	for name, want := range map[string]string{
		"host.pressure": recording.CoverageUnavailable, "host.softnet": recording.CoverageUnavailable,
		"host.cgroup": recording.CoverageUnavailable, "host.netstat": recording.CoverageOK,
	} {
		c, _ := r.Measured(name)
		if c.State != want || want != recording.CoverageOK && (c.Why == "" || c.Cure == "") {
			t.Errorf("%s: %+v, want %s with why and cure", name, c, want)
		}
	}
	if got := r.Select("node_softnet_dropped_total"); len(got) != 0 {
		t.Error("what was not measured has samples")
	}
	for _, m := range measures {
		found := false
		for _, c := range r.Coverage {
			found = found || c.Probe == m
		}
		if !found {
			t.Errorf("no coverage of %s", m)
		}
	}
}

func TestAFileThatGoesBadIsPartial(t *testing.T) {
	p, env, sink := copied(t, nil)
	p.tick(0, false)
	put(t, env.Proc+"/net/softnet_stat", "rubbish\n")
	p.tick(0, true)
	p.meter.writeCoverage()
	c, measured := sink.Recording().Measured("host.softnet")
	if !measured || c.State != recording.CoveragePartial || !strings.Contains(c.Why, "1 of 2 readings failed") {
		t.Errorf("%+v", c)
	}
}

func TestLateTicksAreTold(t *testing.T) {
	p, _, sink := copied(t, nil)
	p.tick(0, false)
	p.tick(2500*time.Millisecond, false)
	p.meter.writeCoverage()
	r := sink.Recording()
	late := r.Events[len(r.Events)-1]
	if late.Kind != recording.EventObserverLate || late.Value != 2.5 || late.Attrs["probe"] != "host" || late.Subject.Kind != recording.KindObserver {
		t.Errorf("%+v", late)
	}
	c, _ := r.Measured("host.netstat")
	if c.State != recording.CoveragePartial || c.Late != 2.5 || !strings.Contains(c.Why, "2 seconds") {
		t.Errorf("%+v", c)
	}
	if s := r.Select("snag_probe_late_seconds", "probe", "host"); len(s) != 1 || s[0].Points[1].V != 2.5 {
		t.Errorf("%+v", s)
	}
	if s := r.Select("snag_probe_cpu_seconds_total", "probe", "host"); len(s) != 1 || s[0].Points[1].V <= s[0].Points[0].V {
		t.Errorf("own cost %+v", s)
	}
}

func TestNamespacesTakeTurns(t *testing.T) {
	p, env, _ := copied(t, nil)
	for i := range 100 {
		sp := &space{}
		sp.ID = uint64(i)
		p.spaces.order = append(p.spaces.order, sp)
	}
	p.spaces.order[0].ID = env.Netns
	seen := map[uint64]int{}
	for range 5 {
		for _, sp := range p.spaces.due(false) {
			seen[sp.ID]++
		}
	}
	if seen[env.Netns] != 5 || len(seen) != 100 {
		t.Errorf("in 5 turns the own one was read %d times, %d namespaces in all: want 5 and 100", seen[env.Netns], len(seen))
	}
	if n := len(p.spaces.due(true)); n != 100 {
		t.Errorf("%d at the end, want all", n)
	}
	p.spaces.order = nil
}

func TestUsageOfCgroupVersion1(t *testing.T) {
	files := nginx("S")
	for name := range files {
		if strings.HasPrefix(name, "sys/") {
			delete(files, name)
		}
	}
	dir := "sys/fs/cgroup/cpu,cpuacct/"
	files["proc/812/cgroup"] = "4:cpu,cpuacct:/web\n1:name=systemd:/system.slice/nginx.service\n"
	files[dir+"cgroup.procs"], files[dir+"cpuacct.usage"] = "", "9000000000\n"
	files[dir+"web/cpuacct.usage"] = "2500000000\n"
	files[dir+"web/cpu.stat"] = "nr_periods 4\nnr_throttled 1\nthrottled_time 30000000\n"
	files[dir+"web/cpu.cfs_quota_us"], files[dir+"web/cpu.cfs_period_us"] = "-1\n", "100000\n"
	p, _, sink := copied(t, files)
	p.tick(0, false)
	r := sink.Recording()
	for name, want := range map[string]float64{"snag_cgroup_cpu_usage_seconds_total": 2.5, "snag_cgroup_cpu_throttled_seconds_total": 0.03} {
		if s := r.Select(name, "cgroup", "/web"); len(s) != 1 || s[0].Points[0].V != want {
			t.Errorf("%s %+v, want %g", name, s, want)
		}
	}
	if len(r.Cgroups) != 0 {
		t.Errorf("a row of a control group without a quota: %+v", r.Cgroups)
	}
	if row := lastRow(r, 812); row.Cgroup != "/web" || row.Unit != "nginx.service" {
		t.Errorf("%+v", row)
	}
}

func TestAPidThatIsGivenAgainIsAnotherProcess(t *testing.T) {
	p, env, sink := copied(t, nginx("S"))
	env.Watch.Add(812, "test")
	p.tick(0, false)
	rewrite(t, env.Proc+"/812/stat", "812 (nginx) S 1 812 812 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 4 0 100 ", "812 (sh) S 1 812 812 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 900 ")
	p.tick(0, false)
	for _, e := range sink.Recording().Events {
		if e.Kind == recording.EventProcessGone && e.Subject.PID == 812 && e.Subject.Comm == "nginx" && !env.Watch.Has(812) {
			return
		}
	}
	t.Errorf("nothing tells that nginx went: %+v", sink.Recording().Events)
}

// A target that ends before the first sample is reported with the name it had at the start.
func TestWhatEndsBeforeTheFirstLookHasItsName(t *testing.T) {
	p, env, sink := copied(t, nginx("S"))
	env.Watch.Add(900, "asked for")
	env.Watch.Note(900, "sleep")
	env.Watch.Note(901, "never chosen")
	p.tick(0, false)
	var gone []recording.Subject
	for _, e := range sink.Recording().Events {
		if e.Kind == recording.EventProcessGone {
			gone = append(gone, e.Subject)
		}
	}
	if len(gone) != 1 || gone[0].PID != 900 || gone[0].Comm != "sleep" {
		t.Errorf("gone: %+v", gone)
	}
}

func TestCostOnOtherThreadsIsCounted(t *testing.T) {
	p, _, _ := copied(t, nil)
	p.meter.run("host.sysctl", func(recording.Time) error {
		done := make(chan error)
		go func() {
			runtime.LockOSThread()
			done <- p.meter.inside(func() error {
				for until := probe.ThreadCPU() + 0.02; probe.ThreadCPU() < until; {
				}
				return nil
			})()
		}()
		return <-done
	})
	if c := p.meter.all["host.sysctl"].cost; c < 0.02 || p.meter.cost() < c {
		t.Errorf("%g s of the measure, %g of the probe: want 0.02 and more", c, p.meter.cost())
	}
}

func TestRowsTakeTurns(t *testing.T) {
	files := map[string]string{}
	for i := range mostRows + 100 {
		dir := fmt.Sprintf("proc/%d/", 1000+i)
		files[dir+"stat"] = fmt.Sprintf("%d (a) S 1 1 1 0 -1 0 1 0 0 0 0 0 0 0 20 0 1 0 100 1 1", 1000+i)
		files[dir+"fd/3"] = "-> socket:[1]"
	}
	p, _, sink := copied(t, files)
	for range 2*everyRows + 1 { // scans 1 (all of them), 2 and 3
		p.tick(0, false)
	}
	rows := map[int]int{}
	for _, r := range sink.Recording().Processes {
		rows[r.PID]++
	}
	least, most := 99, 0
	for _, n := range rows {
		least, most = min(least, n), max(most, n)
	}
	if len(rows) != mostRows+100 || least < 2 || most > 3 {
		t.Errorf("%d processes with %d to %d rows, want %d with 2 or 3", len(rows), least, most, mostRows+100)
	}
	p.meter.writeCoverage()
	if c, _ := sink.Recording().Measured("host.processes"); c.State != recording.CoveragePartial || !strings.Contains(c.Why, "take turns") {
		t.Errorf("%+v", c)
	}
}

func TestNoticesAreToldOnceOfEachAndAreBounded(t *testing.T) {
	var told []string
	n := newNotices(func(s string) { told = append(told, s) })
	for range 3 {
		for i := range 20 {
			n.first("qdisc", fmt.Sprint(i), func() string { return fmt.Sprint("first of ", i) })
		}
	}
	n.first("throttled", "/a", func() string { return "throttled" })
	if len(told) != mostTold+1 || told[0] != "first of 0" || told[mostTold] != "throttled" {
		t.Errorf("told %q", told)
	}
}

func TestProcessesTakeTurns(t *testing.T) {
	p, _, _ := copied(t, nil)
	var pids []int
	for i := range 450 {
		pids = append(pids, i+1)
	}
	seen := map[int]bool{}
	for range 3 {
		got := p.processes.turns("state", pids, 200, false)
		if len(got) != 200 {
			t.Fatalf("%d at a time, want 200", len(got))
		}
		for _, pid := range got {
			seen[pid] = true
		}
	}
	if len(seen) != 450 {
		t.Errorf("three turns saw %d of 450", len(seen))
	}
}
