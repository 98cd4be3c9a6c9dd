package host

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// keeper is a program that opens a socket and files up to a number, then waits.
const keeper = `
import resource, socket, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[1])))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
files = [open("/dev/null") for _ in range(int(sys.argv[2]))]
print("ready", flush=True)
time.sleep(60)
`

func keep60(t *testing.T, limit, files int) int {
	t.Helper()
	cmd := exec.Command("python3", "-c", keeper, strconv.Itoa(limit), strconv.Itoa(files))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the child said %q: %v", line, err)
	}
	return cmd.Process.Pid
}

func lastRow(r *recording.Recording, pid int) *recording.Process {
	for i := len(r.Processes) - 1; i >= 0; i-- {
		if r.Processes[i].PID == pid {
			return &r.Processes[i]
		}
	}
	return nil
}

func TestAProcessNearItsFileLimitIsWatched(t *testing.T) {
	pid := keep60(t, 3000, 2600)
	p, env, sink := live(t)
	p.tick(0, false)
	p.tick(0, false) // not a scan: only the watched get a row
	r := sink.Recording()
	row := lastRow(r, pid)
	if row == nil {
		t.Fatal("no row of a process that holds a socket")
	}
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	if row.FDs == nil || *row.FDs != len(entries) || row.FDLimit != 3000 || row.FDHard != 3000 {
		t.Errorf("fds %v of %d/%d, want %d of 3000", row.FDs, row.FDLimit, row.FDHard, len(entries))
	}
	if !env.Watch.Has(pid) {
		t.Error("not watched at 87 % of its limit")
	}
	rows := 0
	for _, one := range r.Processes {
		if one.PID == pid {
			rows++
		}
	}
	if rows != 2 {
		t.Errorf("%d rows, want one a tick", rows)
	}
	if row.Netns != env.Netns || row.PPID != os.Getpid() || row.Exe == "" || row.Start == 0 || row.Cgroup == "" {
		t.Errorf("row %+v", row)
	}
	if d := env.Now().Sub(row.Start); d < 0 || d > time.Minute {
		t.Errorf("it began %v ago", d)
	}
	if env.Watch.Has(os.Getpid()) {
		t.Error("the test itself is watched")
	}
	if self := lastRow(r, os.Getpid()); self == nil || !self.Self {
		t.Errorf("own row %+v", self)
	}
}

func TestCountingEntriesAgreesWithTheSizeOfTheDirectory(t *testing.T) {
	pid := keep60(t, 3000, 700)
	read := newProcReader("/proc", 0)
	fast := read.fds(pid)
	read.live = false // as on kernels before 6.2
	slow := read.fds(pid)
	if fast == nil || slow == nil || *fast != *slow || *slow < 700 {
		t.Errorf("size says %v, counting %v", fast, slow)
	}
}

func TestAStopIsAnEventWithItsInterval(t *testing.T) {
	pid := keep60(t, 100, 3)
	p, _, sink := live(t)
	p.tick(0, false)
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "stopped", func() bool { s, err := p.processes.read.stat(pid); return err == nil && s.State == 'T' })
	p.tick(0, false)
	if err := unix.Kill(pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "running", func() bool { s, err := p.processes.read.stat(pid); return err == nil && s.State != 'T' })
	p.tick(0, false)
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "stopped", func() bool { s, err := p.processes.read.stat(pid); return err == nil && s.State == 'T' })
	p.tick(0, true)
	p.processes.goingOn()
	var stops []recording.Event
	for _, e := range sink.Recording().Events {
		if e.Kind == recording.EventStopped && e.Subject.PID == pid {
			stops = append(stops, e)
		}
	}
	if len(stops) != 2 || stops[0].End <= stops[0].T || stops[1].End != 0 || stops[1].T < stops[0].End {
		t.Fatalf("stops %+v, want one that ended and one that goes on", stops)
	}
	if stops[0].Attrs["running_at"] == "" || stops[0].Subject.Comm == "" {
		t.Errorf("stop %+v", stops[0])
	}
}

func TestAWatchedProcessThatEndsIsTold(t *testing.T) {
	cmd := child(t, "sleep", "60")
	p, env, sink := live(t)
	env.Watch.Add(cmd.Process.Pid, "test")
	p.tick(0, false)
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	p.tick(0, false)
	p.tick(0, false)
	told := 0
	for _, e := range sink.Recording().Events {
		if e.Kind == recording.EventProcessGone && e.Subject.PID == cmd.Process.Pid && e.Subject.Comm == "sleep" {
			told++
		}
	}
	if told != 1 || env.Watch.Has(cmd.Process.Pid) {
		t.Errorf("told %d times, watched %v", told, env.Watch.Has(cmd.Process.Pid))
	}
}

func TestAThrottledControlGroupIsMeasured(t *testing.T) {
	needRoot(t)
	path := fmt.Sprintf("/snag-test-%d.service", os.Getpid())
	dir := filepath.Join("/sys/fs/cgroup/cpu", path)
	if !exists("/sys/fs/cgroup/cpu/cgroup.procs") {
		t.Skip("no cpu controller of cgroup v1 here")
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 100 {
			if os.Remove(dir) == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	put := func(file, value string) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(value), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("cpu.cfs_period_us", "20000")
	put("cpu.cfs_quota_us", "4000")
	cmd := child(t, "sh", "-c", "while :; do :; done")
	put("cgroup.procs", strconv.Itoa(cmd.Process.Pid))
	p, env, sink := live(t)
	env.Watch.Add(cmd.Process.Pid, "test")
	p.tick(0, false)
	eventually(t, "throttled", func() bool {
		data, _ := os.ReadFile(filepath.Join(dir, "cpu.stat"))
		s := parseCPUStat(data)
		return s.Throttling != nil && s.Throttling.Throttled >= 10
	})
	p.tick(0, true)
	r := sink.Recording()
	periods := increase(t, r, "snag_cgroup_cpu_periods_total", "cgroup", path)
	throttled := increase(t, r, "snag_cgroup_cpu_throttled_periods_total", "cgroup", path)
	seconds := increase(t, r, "snag_cgroup_cpu_throttled_seconds_total", "cgroup", path)
	if throttled < 1 || throttled > periods || seconds <= 0 || seconds > elapsed(r, "snag_cgroup_cpu_periods_total", path)*float64(runtime.NumCPU()) {
		t.Errorf("throttled %g of %g periods of 20 ms, %g s", throttled, periods, seconds)
	}
	row := lastRow(r, cmd.Process.Pid)
	if row == nil || row.Cgroup != path || row.Unit != path[1:] {
		t.Fatalf("process %+v, want cgroup %s", row, path)
	}
	i := slices.IndexFunc(r.Cgroups, func(c recording.Cgroup) bool { return c.Path == path })
	if i < 0 || r.Cgroups[i].Quota != 0.004 || r.Cgroups[i].Period != 0.02 || r.Cgroups[i].Version != 1 {
		t.Errorf("cgroups %+v", r.Cgroups)
	}
	if !sink.Noticed("throttling", path) {
		t.Errorf("notices %q", sink.Notices())
	}
}

// elapsed is the time between a group's first and last sample, s, and a period
// more: what is throttled is booked when it ends.
func elapsed(r *recording.Recording, name, path string) float64 {
	p := r.Select(name, "cgroup", path)[0].Points
	return p[len(p)-1].T.Sub(p[0].T).Seconds() + 0.1
}

func TestAListenQueueThatOverflowsIsCounted(t *testing.T) {
	n := namespace(t, "lis")
	p, _, sink := live(t)
	fd := -1
	var addr string
	inside(t, n, func() (err error) {
		if fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); err != nil {
			return err
		}
		if err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return err
		}
		sa, err := unix.Getsockname(fd)
		if err != nil {
			return err
		}
		addr = fmt.Sprintf("127.0.0.1:%d", sa.(*unix.SockaddrInet4).Port)
		return unix.Listen(fd, 1)
	})
	defer unix.Close(fd)
	p.tick(0, false)
	inside(t, n, func() error {
		for range 12 {
			d := net.Dialer{Timeout: 50 * time.Millisecond}
			if c, err := d.Dial("tcp", addr); err == nil {
				defer c.Close()
			}
		}
		return nil
	})
	p.tick(0, true)
	r := sink.Recording()
	if v := increase(t, r, "node_netstat_TcpExt_ListenOverflows", "netns", strconv.FormatUint(n.ID, 10)); v == 0 {
		t.Error("no overflow counted")
	}
	if !sink.Noticed("listen queue", n.Name) {
		t.Errorf("notices %q", sink.Notices())
	}
}
