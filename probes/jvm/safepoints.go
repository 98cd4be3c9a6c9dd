package jvm

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"snag/internal/elffile"
	"snag/internal/kernel"
	"snag/internal/procroot"
	"snag/internal/sorting"
	"snag/recording"
)

const (
	// mostTraced JVMs have probes in them.
	mostTraced = 16
	// mostStops a second become events, the longest; hsperfdata has the sum of all.
	mostStops = 200
)

// hooks are the static probes of libjvm and their programs. Without the first two
// there is nothing to measure; without the others a stop has no name.
var hooks = []struct{ probe, program string }{
	{"safepoint__begin", safepointProgSafepointBegin},
	{"safepoint__end", safepointProgSafepointEnd},
	{"vmops__begin", safepointProgOperationBegin},
	{"vmops__request", safepointProgRequest},
}

// stops follows the safepoints of the JVMs that somebody cares about, exactly: by the
// static probes of their libjvm (USDT), a uprobe each. In every other JVM nothing is
// changed.
type stops struct {
	proc   string
	libs   map[libID]*library
	traced map[int][]link.Link
	failed map[int]error
	left   uint64 // stops without an event
	lack   error  // nothing can be traced here
}

type libID struct{ dev, ino uint64 }

// library is the programs for one libjvm: in each build the arguments are elsewhere.
type library struct {
	maps   *ebpf.Collection
	ring   *ringbuf.Reader
	probes map[string]elffile.Probe
	remark string // what can't be told of it
}

func newStops(proc string) *stops {
	return &stops{proc: proc, libs: map[libID]*library{}, traced: map[int][]link.Link{}, failed: map[int]error{}}
}

// follow attaches to a JVM, once.
func (s *stops) follow(pid int) {
	if s.lack != nil || s.traced[pid] != nil || s.failed[pid] != nil || len(s.traced) >= mostTraced {
		return
	}
	links, err := s.attach(pid)
	if err != nil {
		s.failed[pid] = err
		var lack *kernel.Lack
		if errors.As(err, &lack) {
			s.lack = lack
		}
		return
	}
	s.traced[pid] = links
}

// forget detaches from a JVM that has ended.
func (s *stops) forget(pid int) {
	for _, l := range s.traced[pid] {
		l.Close()
	}
	delete(s.traced, pid)
	delete(s.failed, pid)
}

func (s *stops) attach(pid int) (links []link.Link, err error) {
	path, err := libjvmOf(s.proc, pid)
	if err != nil {
		return nil, err
	}
	file, err := procroot.Open(s.proc, pid, path, 0, true)
	if err != nil {
		return nil, fmt.Errorf("open the libjvm of process %d: %w", pid, err)
	}
	defer file.Close()
	lib, err := s.library(file, path)
	if err != nil {
		return nil, err
	}
	// By the descriptor: the path is the process', and may be another file by now.
	exe, err := link.OpenExecutable("/proc/self/fd/" + strconv.Itoa(int(file.Fd())))
	if err != nil {
		return nil, fmt.Errorf("read %s of process %d: %w", path, pid, err)
	}
	for _, h := range hooks {
		probe, ok := lib.probes[h.probe]
		if !ok {
			continue
		}
		l, err := exe.Uprobe(h.probe, lib.maps.Programs[h.program], &link.UprobeOptions{Address: probe.Offset, RefCtrOffset: probe.Semaphore, PID: pid})
		if err != nil {
			for _, l := range links {
				l.Close()
			}
			return nil, fmt.Errorf("attach to %s of process %d: %w", h.probe, pid, err)
		}
		links = append(links, l)
	}
	return links, nil
}

// libjvmOf is the path of the libjvm that a process runs, as its own mount namespace
// has it.
func libjvmOf(proc string, pid int) (string, error) {
	file, err := os.Open(proc + "/" + strconv.Itoa(pid) + "/maps")
	if err != nil {
		return "", fmt.Errorf("look for the libjvm of process %d: %w", pid, err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) >= 6 && strings.Contains(f[1], "x") && filepath.Base(f[5]) == "libjvm.so" {
			if len(f) > 6 {
				return "", fmt.Errorf("the libjvm of process %d was replaced since it began (%s)", pid, strings.Join(f[5:], " "))
			}
			return f[5], nil
		}
	}
	return "", fmt.Errorf("process %d has no libjvm.so mapped", pid)
}

// library loads the programs for a libjvm, once for each file.
func (s *stops) library(file *os.File, path string) (*library, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return nil, fmt.Errorf("stat %s: %w", path, err)
	}
	id := libID{st.Dev, st.Ino}
	if lib := s.libs[id]; lib != nil {
		return lib, nil
	}
	elf, err := elffile.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	lib := &library{probes: map[string]elffile.Probe{}}
	for _, p := range elf.Probes() {
		for _, h := range hooks {
			if _, twice := lib.probes[h.probe]; p.Name == h.probe && !twice {
				lib.probes[h.probe] = p
			}
		}
	}
	for _, h := range hooks[:2] {
		if _, ok := lib.probes[h.probe]; !ok {
			return nil, fmt.Errorf("%s has no static probe %s: it was built without --enable-dtrace", path, h.probe)
		}
	}
	if err := lib.load(s.proc); err != nil {
		return nil, err
	}
	s.libs[id] = lib
	return lib, nil
}

func (l *library) load(proc string) error {
	if lack := kernel.CanLoad(proc, "/sys"); lack != nil {
		return lack
	}
	if err := kernel.RaiseMemlock(); err != nil {
		return err
	}
	spec, err := loadSafepoint()
	if err != nil {
		return fmt.Errorf("read the program safepoint out of the binary: %w", err)
	}
	set := func(probe string, at int, variable string) error {
		args := l.probes[probe].Args
		if at >= len(args) {
			return nil
		}
		p, err := placeOf(args[at], runtime.GOARCH)
		if err != nil {
			l.remark = "operations have no name: " + err.Error()
			return nil
		}
		return spec.Variables[variable].Set(p)
	}
	for _, v := range []struct {
		probe    string
		at       int
		variable string
	}{
		{"vmops__begin", 0, safepointVarBeginName}, {"vmops__begin", 1, safepointVarBeginLength},
		{"vmops__request", 0, safepointVarRequestName}, {"vmops__request", 1, safepointVarRequestLength},
	} {
		if err := set(v.probe, v.at, v.variable); err != nil {
			return fmt.Errorf("set %s of the program safepoint: %w", v.variable, err)
		}
	}
	if l.maps, err = ebpf.NewCollection(spec); err != nil {
		return kernel.Explain("loading BPF program safepoint", err)
	}
	if l.ring, err = ringbuf.NewReader(l.maps.Maps[safepointMapStops]); err != nil {
		l.maps.Close()
		return kernel.Explain("reading the ring of the program safepoint", err)
	}
	return nil
}

// take returns the safepoints that ended since the last time, by when they began.
func (s *stops) take() []safepointStop {
	var out []safepointStop
	for _, lib := range s.libs {
		lib.ring.SetDeadline(pastDeadline)
		for {
			record, err := lib.ring.Read()
			if err != nil {
				break // all are read
			}
			if stop, ok := decodeStop(record.RawSample); ok {
				out = append(out, stop)
			}
		}
	}
	if len(out) > mostStops {
		sorting.By(out, func(a, b safepointStop) int { return cmp.Compare(b.End-b.Asked, a.End-a.Asked) })
		s.left += uint64(len(out) - mostStops)
		out = out[:mostStops]
	}
	sorting.By(out, func(a, b safepointStop) int { return cmp.Compare(a.Asked, b.Asked) })
	return out
}

// lost counts the safepoints that found no room in the ring.
func (s *stops) lost() uint64 {
	var sum uint64
	for _, lib := range s.libs {
		var n uint64
		if err := lib.maps.Variables[safepointVarLost].Get(&n); err == nil {
			sum += n
		}
	}
	return sum
}

func (s *stops) close() {
	for pid := range s.traced {
		s.forget(pid)
	}
	for _, lib := range s.libs {
		lib.ring.Close()
		lib.maps.Close()
	}
}

// coverage says whose safepoints are exact, and why others are not.
func (s *stops) coverage(since recording.Time) recording.Coverage {
	c := recording.Coverage{Probe: measureSafepoints, State: recording.CoverageOK, Since: since, Lost: s.lost()}
	var why []string
	for pid, err := range s.failed {
		if comm(s.proc, pid) != "" {
			why = append(why, err.Error())
		}
	}
	for _, lib := range s.libs {
		if lib.remark != "" {
			why = append(why, lib.remark)
		}
	}
	if s.left > 0 {
		why = append(why, fmt.Sprintf("%d of the shortest safepoints are only in the counters", s.left))
	}
	slices.Sort(why)
	switch {
	case len(s.traced) == 0 && len(why) == 0:
		c.State, c.Why, c.Cure = recording.CoverageOff, "no JVM was paused for long, and none was asked for", "name one: --pid"
	case len(s.traced) == 0:
		c.State, c.Cure = recording.CoverageUnavailable, cureSafepoints
	case len(why) > 0:
		c.State, c.Cure = recording.CoveragePartial, cureSafepoints
	}
	if len(why) > 0 {
		c.Why = strings.Join(why[:min(len(why), 2)], "; ")
	}
	var lack *kernel.Lack
	if errors.As(s.lack, &lack) {
		c.Cure = lack.Cure
	}
	return c
}
