package oncpu

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"snag/internal/cpus"
	"snag/internal/kernel"
)

// loaded is the kernel's side: the program, its maps, and a timer on each CPU.
type loaded struct {
	objects kernelObjects
	events  []int // descriptors of perf events
}

// load loads the program and starts the timers: hz samples per second on each CPU
// that is online; of pids and their children only, where there are any. Errors are
// *kernel.Lack where something is lacking here.
func load(proc, sys string, hz uint64, pids []int, copies bool) (*loaded, error) {
	if copies && runtime.GOARCH != "amd64" {
		return nil, &kernel.Lack{Why: "walking stacks by call frame information is for x86-64", Cure: "without --dwarf: by frame pointers"}
	}
	if l := kernel.SeesPIDs(proc); l != nil && len(pids) > 0 {
		return nil, l
	}
	if err := kernel.RaiseMemlock(); err != nil {
		return nil, err
	}
	types, err := kernel.Types()
	if err != nil {
		return nil, err
	}
	spec, err := loadKernel()
	if err != nil {
		return nil, fmt.Errorf("reading the program oncpu out of the binary: %w", err)
	}
	online, err := onlineCPUs(sys)
	if err != nil {
		return nil, err
	}
	// A quarter of a second of stacks that are all new, some 4 kB each with their tops.
	ring := powerOfTwo(len(online)<<17, 512<<10, 8<<20)
	if copies {
		ring = powerOfTwo(len(online)<<21, 8<<20, 64<<20) // 64 kB a sample
	}
	spec.Maps[kernelMapStacks].MaxEntries = ring
	set := map[string]any{kernelVarOnly: len(pids) > 0, kernelVarCopies: copies, kernelVarMends: runtime.GOARCH == "amd64"}
	for name, v := range set {
		if err := spec.Variables[name].Set(v); err != nil {
			return nil, fmt.Errorf("setting %s of the program oncpu: %w", name, err)
		}
	}
	kinds := powerOfTwo(len(online)<<7, 1<<10, 1<<14)
	for _, name := range []string{kernelMapCountsA, kernelMapCountsB} {
		spec.Maps[name].MaxEntries = kinds
	}
	spec.Maps[kernelMapCurrent].InnerMap.MaxEntries = kinds
	l := &loaded{}
	opts := &ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{KernelTypes: types}}
	if err := spec.LoadAndAssign(&l.objects, opts); err != nil {
		l := kernel.Explain("loading BPF program oncpu", err)
		if copies && l.Cure == "" {
			l.Cure = "use a kernel from 5.15 on, or leave --dwarf out"
		}
		return nil, l
	}
	for _, pid := range pids {
		if err := l.objects.Wanted.Put(uint32(pid), beginOf(proc, pid)); err != nil {
			l.close()
			return nil, fmt.Errorf("choosing process %d for the program oncpu: %w", pid, err)
		}
	}
	if err := l.attach(online, hz); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// beginOf is when a process began, in clock ticks since boot, as /proc/PID/stat has it
// (field 22); 0 where that is not known: in a time namespace that file counts from
// elsewhere (time_namespaces(7)).
func beginOf(proc string, pid int) uint64 {
	const initial = "time:[4026531834]" // PROC_TIME_INIT_INO, include/linux/proc_ns.h
	if ns, err := os.Readlink(proc + "/self/ns/time"); err == nil && ns != initial {
		return 0
	}
	stat, err := os.ReadFile(proc + "/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	return parseBegin(stat)
}

func parseBegin(stat []byte) uint64 {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // from field 3 on
	if len(fields) < 20 {
		return 0
	}
	ticks, _ := strconv.ParseUint(string(fields[19]), 10, 64) // 0 where it is none
	return ticks
}

// attach starts a timer on each CPU (perf_event_open(2)). One that went offline
// meanwhile is passed over.
func (l *loaded) attach(online []int, hz uint64) error {
	for _, cpu := range online {
		attr := &unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Sample: hz, Bits: unix.PerfBitFreq | unix.PerfBitDisabled}
		attr.Size = uint32(unix.PERF_ATTR_SIZE_VER1)
		fd, err := unix.PerfEventOpen(attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENXIO) {
			continue
		}
		if err != nil {
			return refused(fmt.Sprintf("perf_event_open of cpu-clock on CPU %d", cpu), err)
		}
		l.events = append(l.events, fd)
		if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, l.objects.Sample.FD()); err != nil {
			return refused("hanging the program oncpu on cpu-clock", err)
		}
		if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0); err != nil {
			return refused("starting cpu-clock", err)
		}
	}
	if len(l.events) == 0 {
		return &kernel.Lack{Why: "no CPU could be sampled", Cure: "run snag on the host itself"}
	}
	return nil
}

// powerOfTwo is the least one that holds want, between two others.
func powerOfTwo(want int, least, most uint32) uint32 {
	for least < most && int(least) < want {
		least *= 2
	}
	return least
}

// refused explains why perf events are not to be had.
func refused(what string, err error) error {
	l := kernel.Explain(what, err)
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		level := "?"
		if b, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid"); err == nil {
			level = strings.TrimSpace(string(b))
		}
		l.Why += fmt.Sprintf(" (kernel.perf_event_paranoid is %s)", level)
		l.Cure = "run as root, or give the binary CAP_PERFMON (before 5.8: CAP_SYS_ADMIN); a container's seccomp filter must allow perf_event_open"
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
		l.Cure = "use a kernel built with CONFIG_PERF_EVENTS=y"
	case errors.Is(err, unix.EMFILE):
		l.Cure = "raise the limit of descriptors (ulimit -n): one is needed for each CPU"
	}
	return l
}

func onlineCPUs(sys string) ([]int, error) {
	path := sys + "/devices/system/cpu/online"
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading which CPUs are online: %w", err)
	}
	list, err := cpus.ParseList(strings.TrimSpace(string(b)))
	if err != nil {
		return nil, fmt.Errorf("reading which CPUs are online, %s: %w", path, err)
	}
	return list, nil
}

// detach ends the sampling; what was counted can still be read.
func (l *loaded) detach() {
	for _, fd := range l.events {
		unix.Close(fd)
	}
	l.events = nil
}

func (l *loaded) close() {
	l.detach()
	l.objects.Close()
}
