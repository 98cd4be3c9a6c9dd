package offcpu

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

// program is testdata/waits.c, built with frame pointers; bare is without.
var program, bare string

func TestMain(m *testing.M) {
	if os.Getenv("OFFCPU_GO_CONVOY") != "" {
		goConvoy()
		return
	}
	dir, err := os.MkdirTemp("", "offcpu")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, "waits")
	program, bare = filepath.Join(dir, "waits"), filepath.Join(dir, "bare")
	for name, flag := range map[string]string{program: "-fno-omit-frame-pointer", bare: "-fomit-frame-pointer"} {
		out, err := exec.Command("gcc", "-O1", flag, "-fno-optimize-sibling-calls", "-pthread", "-o", name, "testdata/waits.c").CombinedOutput()
		if err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			program = ""
		}
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// child is a run of the program.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	pid int
	cpu float64 // s, once it has counted
}

func run(t testing.TB, args ...string) *child {
	t.Helper()
	if program == "" {
		t.Fatal("gcc did not build testdata/waits.c")
	}
	return runCommand(t, exec.Command(program, args...))
}

func runCommand(t testing.TB, cmd *exec.Cmd) *child {
	t.Helper()
	c := &child{cmd: cmd}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if c.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.out, c.pid = bufio.NewReader(out), cmd.Process.Pid
	t.Cleanup(func() {
		c.in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	c.await(t, "ready")
	return c
}

// await reads until a line that begins so.
func (c *child) await(t testing.TB, beginning string) string {
	t.Helper()
	for {
		line, err := c.out.ReadString('\n')
		if strings.HasPrefix(line, beginning) {
			return line
		}
		if err != nil {
			t.Fatalf("the program ended before it said %q: %v", beginning, err)
		}
	}
}

func (c *child) begin() { fmt.Fprintln(c.in) }

// counted waits for what the program counted itself.
func (c *child) counted(t testing.TB) (n int, seconds float64) {
	t.Helper()
	line := c.await(t, "counted")
	if _, err := fmt.Sscanf(line, "counted %d %f %f", &n, &seconds, &c.cpu); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return n, seconds
}

// look runs the probe on processes while during runs, which begins once the probe
// looks at them.
func look(t testing.TB, during func(), pids ...int) *recording.Recording {
	t.Helper()
	sink := probetest.NewSink()
	env := environment(sink)
	for _, pid := range pids {
		env.Closer.Add(pid, "test")
	}
	r, err := Probe.Start(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	if !attached(sink) {
		r.Stop()
		for _, c := range sink.Recording().Coverage {
			t.Logf("%+v", c)
		}
		t.Fatal("the probe did not begin to look within 10 s")
	}
	during()
	r.Stop()
	rec := sink.Recording()
	for _, c := range rec.Coverage {
		if c.State != recording.CoverageOK {
			t.Logf("coverage: %+v", c)
		}
		if c.State == recording.CoverageFailed || c.State == recording.CoverageUnavailable {
			t.Fatalf("%s: %s; %s", c.Probe, c.Why, c.Cure)
		}
	}
	return rec
}

// attached waits until the probe looks at the processes.
func attached(sink *probetest.Sink) bool {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for _, s := range sink.Recording().Series {
			if s.Name == "snag_probe_kernel_cpu_seconds_total" {
				return true
			}
		}
	}
	return false
}

func environment(sink *probetest.Sink) *probe.Env {
	return &probe.Env{
		Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), SelfPID: os.Getpid(), Sink: sink,
		Watch: probe.NewWatch(10), Closer: probe.NewWatch(10), Budget: probe.NewBudget(0, 2),
		Stacks: probe.NewStacks(sink, 10000), Notice: func(string) {},
	}
}

// functions are those of a stack of the recording.
func functions(rec *recording.Recording, id int) string {
	for _, s := range rec.Stacks {
		if s.ID == id {
			return strings.Join(s.Frames, " ")
		}
	}
	return ""
}

// queued is how long threads waited for a CPU: a program's own clock counts that as
// part of what it waited for.
func queued(rec *recording.Recording) float64 {
	sum := 0.0
	for _, r := range rec.OffCPU {
		if r.Reason == recording.WaitRunQueue {
			sum += r.Sum
		}
	}
	return sum
}

// unannounced is how many waits the probe left out as the kernel did not announce their ends.
func unannounced(rec *recording.Recording) (n uint64) {
	for _, c := range rec.Coverage {
		if _, after, ok := strings.Cut(c.Why, "counted; "); ok && c.Probe == measureWaits {
			_, _ = fmt.Sscanf(after, "%d are left out", &n)
		}
	}
	return n
}

func TestSleepsOfKnownLength(t *testing.T) {
	c := run(t, "sleep", "20")
	var n int
	var slept float64
	rec := look(t, func() {
		c.begin()
		n, slept = c.counted(t)
	}, c.pid)
	var rows uint64
	sum := 0.0
	for _, r := range rec.OffCPU {
		if r.Reason != recording.WaitSleep {
			continue
		}
		rows += r.N
		sum += r.Sum
		if f := functions(rec, r.Stack); !strings.Contains(f, "nap") || !strings.Contains(f, "main") || !strings.Contains(f, "nanosleep") {
			t.Errorf("stack of a sleep: %s", f)
		}
		if r.WakerPID != 0 || r.WakerComm == "" {
			t.Errorf("a timer woke it: %+v", r)
		}
	}
	// Where the kernel did not announce an end, the coverage says so, and the sleep is left out.
	left := unannounced(rec)
	if rows+left != uint64(n) || left > 2 || sum > slept || sum < 0.02*float64(rows) {
		t.Errorf("%d sleeps of %.3f s together, the program counted %d of %.3f s", rows, sum, n, slept)
	}
	waits := 0.0
	for _, r := range rec.OffCPU {
		if r.Reason == recording.WaitPipe {
			waits += r.Sum // for the line to begin, and at the end for the end of its input
		}
	}
	if waits == 0 {
		t.Error("what goes on at the end is not counted")
	}
}

func TestConvoy(t *testing.T) {
	c := run(t, "convoy", "8", "2.2")
	var n int
	var waited float64
	rec := look(t, func() {
		c.begin()
		n, waited = c.counted(t)
	}, c.pid)
	var rows uint64
	sum, owned, most := 0.0, 0, 0
	for _, r := range rec.LockWaits {
		if r.Kind != kindMutex {
			continue
		}
		rows += r.N
		sum += r.Sum
		most = max(most, r.Waiters)
		if !strings.Contains(functions(rec, r.Stack), "wait_for_lock") {
			t.Errorf("stack of a waiter: %s", functions(rec, r.Stack))
		}
		if r.OwnerBy == "word" && r.OwnerCall == "read" && strings.Contains(functions(rec, r.OwnerStack), "ask_backend_under_lock") && r.OwnerFD != nil {
			owned++
		} else {
			t.Logf("owner: %+v %s", r, functions(rec, r.OwnerStack))
		}
	}
	t.Logf("%d waits of %.3f s, the program counted %d of %.3f s; the owner was named in %d seconds", rows, sum, n, waited, owned)
	if sum < 0.9*waited-queued(rec) || sum > 1.02*waited {
		t.Errorf("%.3f s of waiting, the program counted %.3f s", sum, waited)
	}
	if float64(rows) < 0.9*float64(n) || float64(rows) > 1.3*float64(n) { // who is woken may find it taken, and waits again
		t.Errorf("%d waits, the program counted %d", rows, n)
	}
	if owned < 1 || most < 7 {
		t.Errorf("the holder was named in %d seconds, %d waited at most", owned, most)
	}
}

// TestConvoyInAContainer: there a lock's word tells an id of the container's own.
func TestConvoyInAContainer(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a PID namespace needs root")
	}
	cmd := exec.Command(program, "convoy", "4", "1.2")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	c := runCommand(t, cmd)
	rec := look(t, func() {
		c.begin()
		c.counted(t)
	}, c.pid)
	for _, r := range rec.LockWaits {
		t.Logf("held by %d (%s) in %s", r.Owner, r.OwnerBy, functions(rec, r.OwnerStack))
		if r.OwnerBy == "word" && r.Owner > c.pid && r.OwnerComm == "waits" {
			return
		}
	}
	t.Errorf("nobody was named in %d rows", len(rec.LockWaits))
}

// TestLockWithoutOwner: the lock's word tells nobody, who wakes the waiters does.
func TestLockWithoutOwner(t *testing.T) {
	c := run(t, "own", "4", "1.3")
	var n int
	var waited float64
	rec := look(t, func() {
		c.begin()
		n, waited = c.counted(t)
	}, c.pid)
	var rows uint64
	sum, named, slept := 0.0, 0, 0
	for _, r := range rec.LockWaits {
		if r.Kind != kindMutex {
			continue
		}
		rows += r.N
		sum += r.Sum
		if strings.Contains(r.OwnerCall, "nanosleep") {
			slept++
		}
		if r.OwnerBy == "waker" && r.Owner != 0 && strings.Contains(functions(rec, r.OwnerStack), "own_section") {
			named++
		} else {
			t.Logf("%+v %s", r, functions(rec, r.OwnerStack))
		}
	}
	if float64(rows) < 0.9*float64(n) || float64(rows) > 1.1*float64(n) || sum < 0.85*waited-queued(rec) || sum > 1.02*waited {
		t.Errorf("%d waits of %.3f s, the program counted %d of %.3f s", rows, sum, n, waited)
	}
	if named == 0 {
		t.Error("nobody was named by whom it woke")
	}
	if slept == 0 {
		t.Error("who held it slept meanwhile, and no row says so")
	}
}

// TestCallersWithoutFramePointers: the walk ends in the C library, and is the same
// wherever read was called from.
func TestCallersWithoutFramePointers(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("missed callers are looked for on amd64 only")
	}
	c := runCommand(t, exec.Command(bare, "callers", "100"))
	rec := look(t, func() {
		c.begin()
		c.counted(t)
	}, c.pid)
	var catalogue, stock, other uint64
	for _, r := range rec.OffCPU {
		f := functions(rec, r.Stack)
		switch {
		case r.Call != "read" || r.N < 3:
		case strings.Contains(f, "reads_the_catalogue") && !strings.Contains(f, "reads_the_stock"):
			catalogue += r.N
		case strings.Contains(f, "reads_the_stock") && !strings.Contains(f, "reads_the_catalogue"):
			stock += r.N
		default:
			other += r.N
			t.Logf("%d times %s", r.N, f)
		}
	}
	if catalogue < 75 || stock < 75 || other > 20 {
		t.Errorf("of 100 reads each: %d of the catalogue, %d of the stock, %d of neither", catalogue, stock, other)
	}
}

// goConvoy is a program of Go whose goroutines queue for a mutex.
func goConvoy() {
	var mu sync.Mutex
	for range 8 {
		go func() {
			for {
				mu.Lock()
				time.Sleep(3 * time.Millisecond)
				mu.Unlock()
			}
		}()
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// TestGoConvoy: goroutines that wait are no threads. Their mutex is not seen, and
// nothing else is taken for it.
func TestGoConvoy(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "OFFCPU_GO_CONVOY=1")
	c := runCommand(t, cmd)
	rec := look(t, func() { time.Sleep(1200 * time.Millisecond) }, c.pid)
	locked, parked := 0.0, 0.0
	for _, r := range rec.LockWaits {
		switch r.Kind {
		case kindMutex:
			locked += r.Sum
		case kindCondition:
			parked += r.Sum
		}
	}
	if locked > 0.1 || parked < 1 {
		t.Errorf("%.3f s of waiting for locks, %.3f s of parked threads", locked, parked)
	}
	named := false
	for _, r := range rec.OffCPU {
		named = named || r.Reason == recording.WaitFutex && strings.Contains(functions(rec, r.Stack), "runtime.futex")
	}
	if !named {
		t.Error("no stack of Go's runtime")
	}
}

// TestIdlePool: threads that wait for work hold nobody up.
func TestIdlePool(t *testing.T) {
	c := run(t, "pool", "12")
	rec := look(t, func() { c.begin(); time.Sleep(700 * time.Millisecond) }, c.pid)
	waiters := 0
	for _, r := range rec.LockWaits {
		if r.Kind == kindMutex && r.Sum > 0.1 {
			t.Errorf("a pool that waits for work at a lock: %+v", r)
		}
		if r.Kind == kindCondition {
			waiters = max(waiters, r.Waiters)
		}
	}
	if waiters != 12 {
		t.Errorf("%d of 12 threads wait for work", waiters)
	}
}

func TestWhoWokeWhom(t *testing.T) {
	// Most turns are shorter than the threshold, on a fast machine now and then all of
	// them. The ones that are not, were woken by the other.
	byOther, all, turns := 0, 0, 0
	for try := 0; try < 5 && all == 0; try++ {
		c := run(t, "pingpong", "20000")
		rec := look(t, func() {
			c.begin()
			n, _ := c.counted(t)
			turns += n
			time.Sleep(100 * time.Millisecond)
		}, c.pid)
		for _, r := range rec.OffCPU {
			if r.Reason != recording.WaitPipe || r.WakerPID != c.pid {
				continue
			}
			all++
			if r.WakerTID != r.TID && r.WakerTID != 0 {
				byOther++
			}
		}
	}
	if all == 0 || byOther != all {
		t.Errorf("of %d rows (%d turns) %d were woken by the other thread", all, turns, byOther)
	}
}

func TestRunQueueBesideAHog(t *testing.T) {
	taskset := func(args ...string) *child {
		return runCommand(t, exec.Command("taskset", append([]string{"-c", "0", program}, args...)...))
	}
	victim, hog := taskset("ticks", "1400"), taskset("hog", "7")
	rec := look(t, func() {
		hog.begin()
		victim.begin()
		victim.counted(t)
	}, victim.pid)
	queued, events, named := 0.0, 0, 0
	for _, r := range rec.OffCPU {
		if r.Reason == recording.WaitRunQueue && r.PID == victim.pid {
			queued += r.Sum
		}
	}
	for _, e := range rec.Events {
		if e.Kind == recording.EventRunDelay && e.Subject.PID == victim.pid {
			events++
			if e.Attrs["ran"] == fmt.Sprintf("waits[%d]", hog.pid) && e.Value > 0.05 && e.Value < 1 {
				named++
			}
		}
	}
	if queued < 0.4 || events < 3 || named < 3 {
		t.Errorf("it waited %.3f s for its CPU, %d events, %d of them name the hog", queued, events, named)
	}
}

// TestProcessThatEnds: its threads come and go, then it does.
func TestProcessThatEnds(t *testing.T) {
	c := run(t, "brief", "40")
	rec := look(t, func() {
		c.begin()
		_, _ = c.cmd.Process.Wait()
		time.Sleep(1100 * time.Millisecond)
	}, c.pid)
	slept := 0
	for _, r := range rec.OffCPU {
		if r.Reason == recording.WaitSleep {
			slept += int(r.N)
		}
		if r.T > rec.OffCPU[0].T.Add(10*time.Second) {
			t.Errorf("a row long after its end: %+v", r)
		}
	}
	if slept < 700 {
		t.Errorf("of 800 threads %d were seen to sleep", slept)
	}
}

func TestThousandsOfThreads(t *testing.T) {
	c := run(t, "many", "2000")
	rec := look(t, func() {
		c.begin()
		c.counted(t)
	}, c.pid)
	tids := map[int]bool{}
	sum := 0.0
	rows := map[recording.Time]int{}
	for _, r := range rec.OffCPU {
		tids[r.TID] = true
		rows[r.T]++
		if r.Reason == recording.WaitSleep {
			sum += r.Sum
		}
	}
	for _, n := range rows {
		if n > mostWaits+100 {
			t.Errorf("%d rows in a second", n)
		}
	}
	if sum < 1000 { // 2,000 threads for over a second, those beyond the most added up
		t.Errorf("%.0f s of sleep", sum)
	}
}

// TestNobodyToLookAt: then nothing is attached, and coverage says so.
func TestNobodyToLookAt(t *testing.T) {
	sink := probetest.NewSink()
	r, err := Probe.Start(context.Background(), environment(sink))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	r.Stop()
	c, measured := sink.Recording().Measured(measureWaits)
	if measured || c.State != recording.CoverageOff {
		t.Errorf("%+v", c)
	}
}
