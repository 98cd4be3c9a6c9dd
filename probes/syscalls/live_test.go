package syscalls

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"snag/internal/netns"
	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

// env is a world that looks at those processes.
func env(t *testing.T, sink *probetest.Sink, pids ...int) *probe.Env {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to load BPF programs")
	}
	own, err := netns.IDOf("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	e := &probe.Env{
		Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), SelfPID: os.Getpid(), Netns: own, Sink: sink,
		Watch: probe.NewWatch(10), Closer: probe.NewWatch(10), Budget: probe.NewBudget(0, 2), Notice: func(string) {},
	}
	for _, pid := range pids {
		e.Closer.Add(pid, "test")
	}
	return e
}

func begin(t *testing.T, e *probe.Env) probe.Running {
	t.Helper()
	r, err := Probe.Start(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// program is a helper process that does something when it is told to: a line to
// its input, its answer a line.
type program struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func run(t *testing.T, mode string) *program {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "SYSCALLS_PROGRAM="+mode, "GODEBUG=asyncpreemptoff=1")
	p := startProgram(t, cmd)
	if l := p.answer(); l != "ready\n" {
		t.Fatalf("the program %s says %q", mode, l)
	}
	return p
}

// startProgram starts a program that is told what to do, and ends it with the test.
func startProgram(t *testing.T, cmd *exec.Cmd) *program {
	t.Helper()
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &program{t: t, cmd: cmd, in: in, out: bufio.NewReader(out)}
}

func (p *program) answer() string {
	p.t.Helper()
	type line struct {
		s   string
		err error
	}
	c := make(chan line, 1)
	go func() {
		s, err := p.out.ReadString('\n')
		c <- line{s, err}
	}()
	select {
	case l := <-c:
		if l.err != nil {
			p.t.Fatalf("the program ended: %v", l.err)
		}
		return l.s
	case <-time.After(30 * time.Second):
		p.t.Fatal("the program does not answer")
	}
	return ""
}

func (p *program) tell(line string) string {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		p.t.Fatal(err)
	}
	return p.answer()
}

// total sums the rows of one call.
func total(r *recording.Recording, pid int, call string, fd int) (sum recording.Call) {
	sum.Errors = map[string]uint64{}
	for _, c := range r.Calls {
		if (pid != 0 && c.PID != pid) || c.Call != call || (fd >= 0 && c.FD != fd) {
			continue
		}
		sum.N += c.N
		sum.Sum += c.Sum
		sum.Max = max(sum.Max, c.Max)
		for name, n := range c.Errors {
			sum.Errors[name] += n
		}
		if c.Asked != nil {
			a := *c.Asked + valueOf(sum.Asked)
			sum.Asked = &a
		}
		if c.Done != nil {
			d := *c.Done + valueOf(sum.Done)
			sum.Done = &d
		}
		for i, n := range c.Hist {
			for len(sum.Hist) <= i {
				sum.Hist = append(sum.Hist, 0)
			}
			sum.Hist[i] += n
		}
	}
	return sum
}

func valueOf(n *uint64) uint64 {
	if n == nil {
		return 0
	}
	return *n
}

func coverageOf(t *testing.T, r *recording.Recording, measure string) recording.Coverage {
	t.Helper()
	for _, c := range r.Coverage {
		if c.Probe == measure {
			return c
		}
	}
	t.Fatalf("no coverage of %s", measure)
	return recording.Coverage{}
}
