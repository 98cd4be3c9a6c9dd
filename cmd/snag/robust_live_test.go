package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"

	"snag/internal/built"
	"snag/internal/cli"
)

// A find of 3 s ends within this whatever the host is like (docs/robustness.md).
const robustEnd = 30 * time.Second

// trouble is a place to run snag find in: its program, and a folder of its own.
type trouble struct {
	t    *testing.T
	snag string
	dir  string
	tmp  string // TMPDIR of what it runs
}

func newTrouble(t *testing.T) *trouble {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("BPF programs need root")
	}
	// Not t.TempDir: others than root run the program, and may not enter that.
	dir, err := os.MkdirTemp("", "snag-robust-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	h := &trouble{t: t, snag: filepath.Join(dir, "snag"), dir: dir, tmp: filepath.Join(dir, "tmp")}
	built.Program(t, "snag", h.snag)
	for path, mode := range map[string]os.FileMode{h.dir: 0o777, h.tmp: 0o777} {
		if err := errors.Join(os.MkdirAll(path, mode), os.Chmod(path, mode)); err != nil { //nolint:gosec // for another user
			t.Fatal(err)
		}
	}
	return h
}

// oneRun is what one run came to.
type oneRun struct {
	code           int
	stdout, stderr string
	took           time.Duration
	cpu            float64 // s, of the whole run
	peak           int64   // bytes, VmHWM
	doc            *robustDoc
}

// robustDoc is what is read of the verdict as JSON.
type robustDoc struct {
	Standing string `json:"standing"`
	Verdict  []struct {
		Suspect, State string
	} `json:"verdict"`
	Coverage []struct {
		Probe, State, Why string
		Cost              float64
	} `json:"coverage"`
}

func (d *robustDoc) with(state string) (names []string) {
	for _, e := range d.Verdict {
		if e.State == state {
			names = append(names, e.Suspect)
		}
	}
	return names
}

// first is the line of the verdict that a person reads first: below the heading with the
// host's name and above what else was seen.
func (o *oneRun) first() string {
	lines := strings.Split(o.stdout, "\n")
	for _, l := range lines[min(1, len(lines)):] {
		if l = strings.TrimSpace(l); l != "" {
			return l
		}
	}
	return ""
}

var itself = regexp.MustCompile(`(?m)^snag itself +([0-9.]+) s CPU`)

// reported is the CPU time that snag says it took, s; −1: it does not say.
func (o *oneRun) reported() float64 {
	m := itself.FindStringSubmatch(o.stdout)
	if m == nil {
		return -1
	}
	v, _ := strconv.ParseFloat(m[1], 64)
	return v
}

// begun is a find that goes on.
type begun struct {
	h              *trouble
	name           string
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	at             time.Time
	before         leftovers
	peak           int64
	ended          chan error
	polled         sync.WaitGroup
	stop           chan struct{}
}

// begin starts snag with args, below the commands of wrap.
func (h *trouble) begin(name string, wrap []string, args ...string) *begun {
	h.t.Helper()
	line := slices.Concat(wrap, []string{h.snag}, args)
	b := &begun{h: h, name: name, cmd: exec.Command(line[0], line[1:]...), ended: make(chan error, 1), stop: make(chan struct{})}
	b.cmd.Dir = h.dir
	b.cmd.Env = append(os.Environ(), "TMPDIR="+h.tmp, "SNAG="+h.snag)
	b.cmd.Stdout, b.cmd.Stderr = &b.stdout, &b.stderr
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	b.before = h.look()
	b.at = time.Now()
	if err := b.cmd.Start(); err != nil {
		h.t.Fatalf("%s: %v", name, err)
	}
	b.polled.Go(b.poll)
	go func() { b.ended <- b.cmd.Wait() }()
	return b
}

// poll reads the peak of snag's memory until stop: it only grows, so the last look has it.
// Not from rusage, which has this test's own before exec.
func (b *begun) poll() {
	for {
		for _, pid := range append(offspring(b.cmd.Process.Pid), b.cmd.Process.Pid) {
			if comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); string(comm) == "snag\n" {
				b.peak = max(b.peak, highWater(pid))
			}
		}
		select {
		case <-b.stop:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func offspring(pid int) (all []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range tasks {
		text, _ := os.ReadFile(path)
		for _, f := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(f)
			all = append(append(all, child), offspring(child)...)
		}
	}
	return all
}

func highWater(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	f := strings.Fields(rest)
	if len(f) == 0 {
		return 0
	}
	kb, _ := strconv.ParseInt(f[0], 10, 64)
	return kb << 10
}

// signal sends a signal to snag itself, not to what it runs in.
func (b *begun) signal(s syscall.Signal) {
	_ = b.cmd.Process.Signal(s)
}

// end waits for it and holds it against what holds of every run.
func (b *begun) end() *oneRun {
	t := b.h.t
	t.Helper()
	var err error
	select {
	case err = <-b.ended:
	case <-time.After(robustEnd - time.Since(b.at)):
		_ = b.cmd.Process.Signal(syscall.SIGQUIT)
		time.Sleep(time.Second)
		_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL)
		err = <-b.ended
		t.Errorf("%s: it was killed after %s\n%s%s", b.name, robustEnd, b.stdout.String(), b.stderr.String())
	}
	close(b.stop)
	b.polled.Wait()
	state := b.cmd.ProcessState
	o := &oneRun{
		code: state.ExitCode(), stdout: b.stdout.String(), stderr: b.stderr.String(), took: time.Since(b.at),
		cpu: (state.UserTime() + state.SystemTime()).Seconds(), peak: b.peak,
	}
	first := o.first()
	if first == "" {
		first = strings.TrimSpace(o.stderr)
	}
	t.Logf("ROBUST | %s | %d | %.140s | %d | %.1f | %.1f | %.2f |", b.name, o.code, strings.ReplaceAll(first, "\n", " "), o.peak>>20, o.took.Seconds(), o.cpu, o.reported())
	if strings.Contains(o.stderr, "panic:") || strings.Contains(o.stderr, "goroutine ") {
		t.Errorf("%s: a panic: %s", b.name, o.stderr)
	}
	if o.code < 0 && !strings.Contains(b.name, "kill") && !strings.Contains(b.name, "twice") {
		t.Errorf("%s: %v", b.name, err)
	}
	b.before.same(b.name, b.h)
	return o
}

// find runs snag find for 3 s with a recording at out, and reads its verdict again as JSON.
func (h *trouble) find(name string, wrap []string, args ...string) *oneRun {
	h.t.Helper()
	out := filepath.Join(h.dir, "r"+strconv.Itoa(int(time.Now().UnixNano()%1e9)))
	o := h.begin(name, wrap, append([]string{"find", "-q", "--for", "3s", "--out", out}, args...)...).end()
	o.doc = h.judge(out)
	if err := os.RemoveAll(out); err != nil {
		h.t.Error(err)
	}
	return o
}

// judge reads a recording's verdict; nil where there is none.
func (h *trouble) judge(dir string) *robustDoc {
	h.t.Helper()
	text, err := exec.Command(h.snag, "judge", "--json", dir).Output()
	if len(text) == 0 {
		h.t.Logf("judge %s: %v", dir, err)
		return nil
	}
	var d robustDoc
	if err := json.Unmarshal(text, &d); err != nil {
		h.t.Fatal(err)
	}
	return &d
}

// judged demands that a run told a verdict.
func (o *oneRun) judged(t *testing.T) {
	t.Helper()
	if o.code != 0 && o.code != cli.ExitCulprit && o.code != cli.ExitCantTell {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

// leftovers is what snag must not leave behind.
type leftovers struct {
	programs, maps  map[uint32]string
	pinned, files   []string
	mounts, uprobes string
}

func (h *trouble) look() leftovers {
	l := leftovers{programs: map[uint32]string{}, maps: map[uint32]string{}}
	for id, err := ebpf.ProgramGetNextID(0); err == nil; id, err = ebpf.ProgramGetNextID(id) {
		l.programs[uint32(id)] = ""
	}
	for id, err := ebpf.MapGetNextID(0); err == nil; id, err = ebpf.MapGetNextID(id) {
		l.maps[uint32(id)] = ""
	}
	pinned, _ := filepath.Glob("/sys/fs/bpf/*")
	l.pinned = pinned
	l.files, _ = filepath.Glob(filepath.Join(h.tmp, "*"))
	b, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(b)) {
		if !strings.Contains(line, "/netns") { // others come and go
			l.mounts += line
		}
	}
	b, _ = os.ReadFile("/sys/kernel/tracing/uprobe_events")
	l.uprobes = string(b)
	return l
}

// same demands that nothing is left that was not there. The kernel frees programs and maps
// a little after their last user is gone.
func (l leftovers) same(name string, h *trouble) {
	h.t.Helper()
	var left []string
	for range 30 {
		now := h.look()
		left = left[:0]
		for id := range now.programs {
			if _, was := l.programs[id]; !was {
				left = append(left, fmt.Sprintf("BPF program %d", id))
			}
		}
		for id := range now.maps {
			if _, was := l.maps[id]; !was {
				left = append(left, fmt.Sprintf("BPF map %d", id))
			}
		}
		for _, p := range append(now.pinned, now.files...) {
			if !slices.Contains(l.pinned, p) && !slices.Contains(l.files, p) {
				left = append(left, p)
			}
		}
		if now.mounts != l.mounts {
			left = append(left, "a mount")
		}
		if now.uprobes != l.uprobes {
			left = append(left, "a uprobe: "+now.uprobes)
		}
		if len(left) == 0 || strings.HasPrefix(left[0], "BPF") && others() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	h.t.Errorf("%s: left behind: %s", name, strings.Join(left[:min(5, len(left))], ", "))
}

// others tells whether another process has BPF programs open, another snag say: what is
// there then may be its own.
func others() bool {
	all, _ := filepath.Glob("/proc/[0-9]*/fdinfo/*")
	for _, path := range all {
		if text, _ := os.ReadFile(path); bytes.Contains(text, []byte("\nprog_id:")) {
			return true
		}
	}
	return false
}

// shell is a wrap that runs commands in a mount namespace of its own, then snag.
func shell(commands string) []string {
	return []string{"unshare", "-m", "--propagation", "private", "sh", "-e", "-c", commands + "\nexec \"$@\"", "sh"}
}

// as is a wrap that runs snag as nobody with those capabilities, "+bpf,+perfmon".
func as(caps string) []string {
	set := "-all"
	if caps != "" {
		set += "," + caps
	}
	return []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=" + set, "--ambient-caps=" + set}
}
