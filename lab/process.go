package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ActorCommand is the hidden subcommand that must run an actor.
const ActorCommand = "actor"

// Process is one program of a stage.
type Process struct {
	Name   string // also the comm of an actor
	PID    int
	Output string // file with what it printed, both streams
	mayEnd bool
	done   chan struct{}
	state  *os.ProcessState
	again  again
}

// Option changes how a process is started.
type Option func(*launch)

type launch struct {
	cgroup *Cgroup
	nice   int
	cpus   string
	mayEnd bool
	stdout string
	env    []string
	chdir  string
}

// In puts the process into a cgroup before its first instruction.
func In(c *Cgroup) Option { return func(l *launch) { l.cgroup = c } }

// Nice sets the process's priority, -20 to 19.
func Nice(n int) Option { return func(l *launch) { l.nice = n } }

// On binds the process to CPUs, "0" or "0,2": as taskset and CPUAffinity= do.
func On(cpus string) Option { return func(l *launch) { l.cpus = cpus } }

// MayEnd says that the process ends by itself and is not missed.
func MayEnd() Option { return func(l *launch) { l.mayEnd = true } }

// Env adds a variable, "NAME=value".
func Env(v string) Option { return func(l *launch) { l.env = append(l.env, v) } }

// stdoutTo sends the standard output to a file of its own.
func stdoutTo(path string) Option { return func(l *launch) { l.stdout = path } }

// Actor starts an actor of lab/actor in a namespace under that comm.
func (s *Stage) Actor(ns, comm, actor string, args []string, opts ...Option) *Process {
	argv := append([]string{s.opts.Self, ActorCommand, actor, "--comm", comm}, args...)
	return s.Run(ns, comm, argv, opts...)
}

// Run starts a program in a namespace ("" is the lab's own). Its output goes to
// a file of the stage. It is killed with its group when the stage closes.
func (s *Stage) Run(ns, name string, argv []string, opts ...Option) *Process {
	p := &Process{Name: name, done: make(chan struct{}), again: again{ns, argv, opts}}
	if s.Err() != nil {
		close(p.done)
		return p
	}
	if err := s.start(p, ns, argv, opts); err != nil {
		close(p.done)
		s.fail(fmt.Errorf("lab: start %s: %w", name, err))
		return p
	}
	s.mu.Lock()
	s.procs = append(s.procs, p)
	s.mu.Unlock()
	return p
}

func (s *Stage) start(p *Process, ns string, argv []string, opts []Option) error {
	var l launch
	for _, o := range opts {
		o(&l)
	}
	p.mayEnd = l.mayEnd
	if l.cgroup != nil || l.nice != 0 || l.cpus != "" {
		// The limits are set by the process itself before it becomes the program,
		// so that not even its first fork escapes them.
		pre := []string{s.opts.Self, ActorCommand, "limited", "--nice", fmt.Sprint(l.nice), "--cpus", l.cpus}
		if l.cgroup != nil {
			pre = append(pre, "--procs", l.cgroup.procs())
		}
		argv = append(append(pre, "--"), argv...)
	}
	out, err := os.CreateTemp(s.dir, p.Name+"-*.out")
	if err != nil {
		return err
	}
	defer out.Close()
	p.Output = out.Name()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, out, l.chdir
	if l.stdout != "" {
		f, err := os.Create(l.stdout)
		if err != nil {
			return err
		}
		defer f.Close()
		cmd.Stdout = f
	}
	cmd.Env = append(append(os.Environ(), s.token()), l.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := s.spawn.in(ns, cmd.Start); err != nil {
		return err
	}
	p.PID = cmd.Process.Pid
	st, err := readStat(filepath.Join("/proc", fmt.Sprint(p.PID)))
	go func() {
		_ = cmd.Wait()
		p.state = cmd.ProcessState
		close(p.done)
	}()
	if err == nil {
		s.remember(item{Kind: kindProcess, PID: p.PID, Start: st.start, Session: st.session})
	}
	return nil
}

// Signal sends a signal to a process that is still the stage's child.
func (s *Stage) Signal(p *Process, sig syscall.Signal) {
	if s.Err() != nil {
		return
	}
	select {
	case <-p.done:
		s.fail(fmt.Errorf("lab: send %v to %s: it has ended: %s", sig, p.Name, p.tail()))
	default:
		s.fail(syscall.Kill(p.PID, sig))
	}
}

// Stop kills a process with its group and waits for its end.
func (s *Stage) Stop(p *Process) {
	if s.Err() != nil || p.ended() {
		return
	}
	p.mayEnd = true
	_ = syscall.Kill(-p.PID, syscall.SIGKILL)
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
		s.fail(fmt.Errorf("lab: %s was killed and has not ended in 5 s", p.Name))
	}
}

// Printed returns what the process printed so far.
func (p *Process) Printed() string {
	raw, _ := os.ReadFile(p.Output)
	return string(raw)
}

// AwaitPrinted waits until the process printed that word: an actor prints
// "ready" when its sockets are open.
func (s *Stage) AwaitPrinted(p *Process, word string) {
	s.Await(fmt.Sprintf("%s to print %q", p.Name, word), 20*time.Second, func() (bool, error) {
		return strings.Contains(p.Printed(), word), nil
	})
}

// Child is the pid of the process's child, 0 when there is none.
func (p *Process) Child() int {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.PID))
	for _, t := range tasks {
		raw, _ := os.ReadFile(t)
		if f := strings.Fields(string(raw)); len(f) > 0 {
			pid, _ := strconv.Atoi(f[0])
			return pid
		}
	}
	return 0
}

// Ended reports whether the process has ended.
func (p *Process) Ended() bool { return p.ended() }

func (p *Process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *Process) tail() string {
	text := strings.TrimSpace(p.Printed())
	if len(text) > 400 {
		text = "… " + text[len(text)-400:]
	}
	return text
}

// dead returns an error for the first process that ended and should not have.
func (s *Stage) dead() error {
	s.mu.Lock()
	procs := append([]*Process(nil), s.procs...)
	s.mu.Unlock()
	for _, p := range procs {
		if p.ended() && !p.mayEnd {
			return fmt.Errorf("%s ended (%v): %s", p.Name, p.state, p.tail())
		}
	}
	return nil
}

// State returns the state of /proc/PID/stat: 'T' is stopped.
func (p *Process) State() (byte, error) {
	st, err := readStat(filepath.Join("/proc", fmt.Sprint(p.PID)))
	return st.state, err
}

// AwaitState waits until a process is in that state.
func (s *Stage) AwaitState(p *Process, state byte) {
	s.Await(fmt.Sprintf("%s to be in state %c", p.Name, state), 10*time.Second, func() (bool, error) {
		now, err := p.State()
		return now == state, err
	})
}
