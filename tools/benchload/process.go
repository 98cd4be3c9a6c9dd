package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"snag/tools/benchhost"
)

// ran is what a program printed and used, its children with it.
type ran struct {
	out []byte
	cpu time.Duration
}

// cantTell is the exit code of snag load where the figures are not the service's; it prints them all the same.
const cantTell = 11

// program runs one to its end on a CPU. What it prints is kept.
func (b *bench) program(ctx context.Context, cpu int, argv ...string) (r ran, err error) {
	if _, err := exec.LookPath(argv[0]); err != nil {
		return r, err
	}
	g, err := benchhost.NewGroup(makeTarget)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, g.End()) }()
	cmd := exec.CommandContext(ctx, "taskset", append([]string{"-c", strconv.Itoa(cpu)}, argv...)...)
	cmd.Env = b.environment()
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	ended := g.Put(cmd).Run()
	r.out = out.Bytes()
	b.runs++
	text := fmt.Sprintf("$ %s\n%s\n%s", strings.Join(argv, " "), r.out, problems.Bytes())
	if err := os.WriteFile(filepath.Join(b.raw, fmt.Sprintf("%04d-%s.txt", b.runs, filepath.Base(argv[0]))), []byte(text), 0o644); err != nil {
		return r, err
	}
	if ended != nil && cmd.ProcessState.ExitCode() != cantTell {
		return r, fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), ended, tail(problems.String()+out.String()))
	}
	r.cpu, err = g.CPU()
	return r, err
}

// environment has the libraries of what peers.sh unpacked.
func (b *bench) environment() []string {
	return append(os.Environ(), "LC_ALL=C", "LD_LIBRARY_PATH="+filepath.Join(b.o.peers, "debian/usr/lib/x86_64-linux-gnu"), "PYTHONPATH="+filepath.Join(b.o.peers, "python"))
}

func tail(s string) string {
	s = strings.TrimSpace(s)
	return s[max(0, len(s)-300):]
}

// server is a program that is asked. One that needs none is empty.
type server struct {
	at    string // host:port
	group *benchhost.Group
	cmd   *exec.Cmd
	in    interface{ Close() error }
	also  []*server
	after func() // nil: nothing is to be taken back
}

func (s *server) end() {
	for _, o := range s.also {
		o.end()
	}
	if s.group != nil {
		_ = s.group.End()
		_ = s.cmd.Wait()
	}
	if s.after != nil {
		s.after()
	}
}

// start starts a server and waits until it answers. ready is asked again and again for some seconds.
func (b *bench) start(ctx context.Context, at string, ready func() error, argv ...string) (*server, error) {
	if _, err := exec.LookPath(argv[0]); err != nil {
		return nil, err
	}
	g, err := benchhost.NewGroup(makeTarget)
	if err != nil {
		return nil, err
	}
	var said bytes.Buffer
	cmd := exec.Command("taskset", append([]string{"-c", strconv.Itoa(b.serverCPU)}, argv...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = b.environment(), &said, &said
	s := &server{at: at, group: g, cmd: cmd}
	if s.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := g.Put(cmd).Start(); err != nil {
		_ = g.End()
		return nil, err
	}
	for range 100 {
		if err = ready(); err == nil {
			return s, nil
		}
		select {
		case <-ctx.Done():
			s.end()
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	s.end() // and with it what it printed is whole
	return nil, fmt.Errorf("%s does not answer: %w: %s", argv[0], err, tail(said.String()))
}

// peer is a program that peers.sh fetched, or the machine's own of that name.
func (b *bench) peer(name string) string {
	for _, at := range []string{"bin", "debian/usr/bin"} {
		if path := filepath.Join(b.o.peers, at, name); exists(path) {
			return path
		}
	}
	return name
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// versions are what the programs say of themselves.
func (b *bench) versions() map[string]string {
	out := map[string]string{}
	for name, argv := range map[string][]string{
		"snag": {b.o.snag, "--version"}, "sockperf": {b.peer("sockperf"), "--version"}, "fortio": {b.peer("fortio"), "version"}, "wrk": {"wrk", "-v"}, "wrk2": {b.peer("wrk2"), "-v"},
		"ghz": {b.peer("ghz"), "--version"}, "iperf3": {b.peer("iperf3"), "--version"}, "redis-benchmark": {"redis-benchmark", "--version"}, "nginx": {"nginx", "-v"},
	} {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = b.environment()
		text, _ := cmd.CombinedOutput() // wrk ends with 1 here
		if line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n"); line != "" {
			out[name] = line
		}
	}
	return out
}
