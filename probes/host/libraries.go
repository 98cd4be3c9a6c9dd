package host

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"snag/internal/elffile"
	"snag/internal/kernel"
	"snag/internal/procroot"
	"snag/internal/sorting"
	"snag/probes/probe"
	"snag/recording"
)

// Bounds of what is read of libraries.
const (
	mostMapped    = 64  // processes
	mostLibraries = 128 // files of one
)

// libraries writes which files the watched and the busy processes run, each
// process once.
type libraries struct {
	env   *probe.Env
	meter *meter
	told  bool // what the CPU is
	seen  map[mappedBy]bool
	files map[fileID]recording.Library // by what it is, so that libc is read once
}

// mappedBy is a process; another program in it (execve) is another one.
type mappedBy struct {
	pid   int
	start uint64
	comm  string
}

// fileID tells files apart: the path is not enough across mount namespaces.
type fileID struct{ device, inode string }

func newLibraries(env *probe.Env, m *meter) *libraries {
	return &libraries{env: env, meter: m, seen: map[mappedBy]bool{}, files: map[fileID]recording.Library{}}
}

func (l *libraries) measure(all map[int]*process) {
	l.meter.run("host.libraries", func(t recording.Time) error {
		if !l.told {
			l.told = true
			l.cpu(t)
		}
		l.forget(all)
		left, refused := 0, 0
		for _, p := range interesting(all, l.env.Watch.Has) {
			k := mappedBy{p.pid, p.start, p.comm}
			switch {
			case l.seen[k] || p.pid == l.env.SelfPID:
				continue
			case len(l.seen) >= mostMapped:
				left++
				continue
			}
			l.seen[k] = true
			if err := l.read(t, p); err != nil && os.IsPermission(err) {
				refused++
			}
		}
		if left > 0 {
			l.meter.note("host.libraries", fmt.Sprintf("those of %d busy processes were left out: at most %d", left, mostMapped), "name a target: --pid or --unit")
		}
		if refused > 0 {
			l.meter.note("host.libraries", fmt.Sprintf("those of %d processes of other users can't be read", refused), cureMaps(kernel.SeesDescriptors(l.env.Proc)))
		}
		return nil
	})
}

// cureMaps is what lets snag read the maps of others. Where it has the capability, a security module refuses them.
func cureMaps(ptrace bool) string {
	if ptrace {
		return ""
	}
	return "run as root, or give the binary CAP_SYS_PTRACE"
}

// forget drops what is gone: the bounds are of what runs now, or a recorder of days would look at its
// first processes alone.
func (l *libraries) forget(all map[int]*process) {
	for k := range l.seen {
		if p := all[k.pid]; p == nil || p.start != k.start || p.comm != k.comm {
			delete(l.seen, k)
		}
	}
	if len(l.files) > mostMapped*mostLibraries {
		clear(l.files) // they are read again
	}
}

// cpu writes what the CPU is and can: the same build takes another way on one
// that lacks an instruction.
func (l *libraries) cpu(t recording.Time) {
	path := l.env.Proc + "/cpuinfo"
	raw, err := os.ReadFile(path)
	if err != nil {
		l.meter.note("host.libraries", "what the CPU can was not read: "+err.Error(), "")
		return
	}
	model, flags := parseCPU(string(raw))
	for name, value := range map[string]string{"cpu.model": model, "cpu.flags": flags} {
		if value != "" {
			l.env.Sink.Append(recording.Fact{T: t, Name: name, Value: value, Source: path})
		}
	}
}

// parseCPU reads the model and the flags of the first CPU of /proc/cpuinfo; arm64
// calls them Features, and has no model name.
func parseCPU(cpuinfo string) (model, flags string) {
	first, _, _ := strings.Cut(cpuinfo, "\n\n")
	for _, line := range strings.Split(first, "\n") {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.Join(strings.Fields(value), " ")
		switch strings.TrimSpace(name) {
		case "model name":
			model = value
		case "flags", "Features":
			flags = value
		case "CPU part":
			if model == "" {
				model = "part " + value
			}
		}
	}
	return model, flags
}

// interesting are the processes whose libraries are worth a look, by pid.
func interesting(all map[int]*process, watched func(int) bool) []*process {
	var out []*process
	for _, p := range all {
		if !p.kernel && (p.busy || watched(p.pid)) {
			out = append(out, p)
		}
	}
	sorting.By(out, func(a, b *process) int { return cmp.Compare(a.pid, b.pid) })
	return out
}

func (l *libraries) read(t recording.Time, p *process) error {
	dir := filepath.Join(l.env.Proc, strconv.Itoa(p.pid))
	raw, err := os.ReadFile(dir + "/maps")
	if err != nil {
		return err
	}
	for i, m := range parseMaps(raw) {
		if i == mostLibraries {
			l.meter.note("host.libraries", fmt.Sprintf("process %d runs more than %d files", p.pid, mostLibraries), "")
			break
		}
		f, known := l.files[m.fileID]
		if !known {
			f = describeFile(l.env.Proc, p.pid, m)
			l.files[m.fileID] = f
		}
		f.T, f.PID, f.Comm, f.Path, f.Deleted = t, p.pid, p.comm, m.path, m.deleted
		l.env.Sink.Append(f)
	}
	return nil
}

// describeFile reads a mapped file. What can't be read stays empty: not known.
func describeFile(proc string, pid int, m mapped) recording.Library {
	f, info, err := procroot.Mapped(proc, pid, m.mapping())
	if err != nil {
		return recording.Library{}
	}
	defer f.Close()
	l := recording.Library{Size: info.Size(), Modified: recording.Time(info.ModTime().UnixNano())}
	if e, err := elffile.Open(f); err == nil {
		l.BuildID = e.BuildID()
	}
	return l
}

// mapped is one file that is mapped to execute.
type mapped struct {
	fileID
	span    string // "7f00…-7f01…", as map_files names it
	path    string
	deleted bool
}

// mapping is what opens it. Numbers that are none stay 0, as no file has them.
func (m mapped) mapping() procroot.Mapping {
	out := procroot.Mapping{Device: m.device, Path: m.path, Deleted: m.deleted}
	from, to, _ := strings.Cut(m.span, "-")
	out.Start, _ = strconv.ParseUint(from, 16, 64)
	out.End, _ = strconv.ParseUint(to, 16, 64)
	out.Inode, _ = strconv.ParseUint(m.inode, 10, 64)
	return out
}

// parseMaps returns the files that /proc/PID/maps (proc(5)) shows as executable,
// each once, in the order of their addresses.
func parseMaps(raw []byte) []mapped {
	var out []mapped
	seen := map[fileID]bool{}
	for len(raw) > 0 {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		raw = rest
		f := bytes.Fields(line)
		if len(f) < 6 || len(f[1]) < 3 || f[1][2] != 'x' || f[5][0] != '/' {
			continue // [vdso], anonymous, or not code
		}
		m := mapped{fileID: fileID{string(f[3]), string(f[4])}, span: string(f[0])}
		at := bytes.IndexByte(line, '/')
		m.path = string(line[at:])
		m.path, m.deleted = strings.CutSuffix(m.path, " (deleted)")
		if !seen[m.fileID] {
			seen[m.fileID] = true
			out = append(out, m)
		}
	}
	return out
}
