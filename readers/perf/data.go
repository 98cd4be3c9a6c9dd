package perf

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"snag/internal/secrets"
	"snag/readers/perf/perfdata"
	"snag/readers/reader"
	"snag/recording"
)

// data makes samples of the records of perf.data.
type data struct {
	*tally
	objects   *objects
	file      *perfdata.File
	modified  time.Time
	place     func(first int64) placed // where perf's clock lies, by the first sample's time
	placed    *placed
	comms     map[int]commID // of threads
	images    map[int]*image
	kernel    []perfdata.Map // and its modules
	bpf       []perfdata.Map // programs: their names stand for the path
	kernels   map[uint64]int32
	events    map[*perfdata.Attr]*event
	ran       map[int]uint64 // samples by process
	paths     map[string]string
	pathBytes int
	mapped    int // mappings of all processes
	held      int // addresses whose frames are remembered
	stack     []int32

	lostRecords, crowded uint64
	periodless           uint64
	copies               copies
	elsewhere            uint64 // frames in files that are not here
}

func newData(t *tally, place func(int64) placed, o *objects) *data {
	return &data{
		tally: t, objects: o, place: place, comms: map[int]commID{}, images: map[int]*image{}, ran: map[int]uint64{}, paths: map[string]string{},
		kernels: map[uint64]int32{}, events: map[*perfdata.Attr]*event{},
	}
}

// Comm implements perfdata.Handler.
func (d *data) Comm(pid, tid int, comm string, exec bool) {
	if _, ok := d.comms[tid]; ok || len(d.comms) < mostComms {
		d.comms[tid] = d.comm([]byte(comm))
	}
	if exec {
		d.drop(pid)
	}
}

// Fork implements perfdata.Handler.
func (d *data) Fork(pid, parent, tid, parentTID int) {
	if name, ok := d.comms[parentTID]; ok && len(d.comms) < mostComms {
		d.comms[tid] = name
	}
	if pid == parent {
		return
	}
	if of := d.images[parent]; of != nil && len(d.images) < mostImages {
		d.images[pid] = &image{maps: of.maps}
		d.mapped += len(of.maps)
	}
}

// Exit implements perfdata.Handler.
func (d *data) Exit(pid, tid int) {
	switch {
	case pid != tid:
		delete(d.comms, tid)
	case d.ran[pid] == 0, d.mapped > mostMapped/2 && d.ran[pid] < shortLived: // what the others mapped is told in the end
		delete(d.comms, tid)
		d.drop(pid)
	}
}

// shortLived processes have fewer samples: where there are very many, as in a build,
// their files are forgotten when they end.
const shortLived = 50

// drop forgets what a process mapped.
func (d *data) drop(pid int) {
	if i := d.images[pid]; i != nil {
		d.held -= len(i.frames)
		d.mapped -= len(i.maps)
		delete(d.images, pid)
	}
}

// Map implements perfdata.Handler.
func (d *data) Map(m perfdata.Map) {
	if m.Unexecutable {
		return
	}
	if m.PID == -1 {
		if text, ok := strings.CutPrefix(m.Path, "[kernel.kallsyms]"); ok {
			if d.file != nil && d.file.Pipe {
				d.objects.recorded(&d.file.Features, d.modified)
			}
			if text == "_text" || text == "_stext" { // its offset is where that symbol lies
				d.objects.running(m.Offset, d.objects.ids["[kernel.kallsyms]"])
			}
			m.Path = "[kernel.kallsyms]"
		}
		d.kernel = put(d.kernel, m)
		return
	}
	m.Path = d.path(m.Path)
	i := d.images[m.PID]
	if d.mapped >= mostMapped {
		d.crowded++
		return
	}
	if i == nil {
		if len(d.images) >= mostImages {
			d.crowded++
			return
		}
		i = &image{}
		d.images[m.PID] = i
	}
	d.mapped -= len(i.maps)
	i.maps = put(i.maps, m)
	d.mapped += len(i.maps)
	d.held -= len(i.frames)
	i.frames = nil
}

// path is one string for all mappings of a file; "" once there are too many.
func (d *data) path(p string) string {
	if same, ok := d.paths[p]; ok {
		return same
	}
	if d.pathBytes += len(p); d.pathBytes > mostPaths {
		return ""
	}
	d.paths[p] = p
	return p
}

// Symbol implements perfdata.Handler.
func (d *data) Symbol(start, size uint64, name string) {
	d.bpf = put(d.bpf, perfdata.Map{Start: start, Size: size, Path: d.path(name)})
}

// Lost implements perfdata.Handler.
func (d *data) Lost(n uint64) { d.lostRecords += n }

// File implements perfdata.Handler.
func (d *data) File(path, id string) {
	if len(d.objects.ids) < mostFrames {
		d.objects.ids[path] = id
	}
}

// Sample implements perfdata.Handler.
func (d *data) Sample(s *perfdata.Sample) {
	e := d.events[s.Attr]
	if e == nil {
		e = d.eventOf(eventName([]byte(s.Attr.Name)))
		d.events[s.Attr] = e
	}
	at := int64(min(s.Time, maxSeconds*1e9))
	if d.placed == nil {
		p := d.place(at)
		d.placed = &p
	}
	at += d.placed.base
	name, ok := d.comms[s.TID]
	one := sample{comm: name, pid: max(s.PID, 0), tid: max(s.TID, 0), at: at, n: 1, weight: float64(s.Period), event: e}
	switch {
	case s.PID == 0 && s.TID == 0:
		one.comm = d.comm([]byte("swapper"))
	case !ok:
		one.comm = d.comm(fmt.Appendf(nil, ":%d", s.TID)) // as perf calls them
	}
	if s.Period == 0 {
		d.periodless++
		if e.kind == clock && s.Attr.Hz > 0 {
			one.weight = 1e9 / float64(s.Attr.Hz)
		}
	}
	d.cpus = max(d.cpus, min(s.CPU, 1<<16)+1)
	if _, ok := d.ran[one.pid]; ok || len(d.ran) < mostImages {
		d.ran[one.pid]++
	}
	d.walk(s)
	d.add(one, d.stack)
}

// Marks in a chain of where the addresses after them lie (enum perf_callchain_context).
const (
	contextKernel      = ^uint64(128) + 1
	contextUser        = ^uint64(512) + 1
	contextGuest       = ^uint64(2048) + 1
	contextGuestKernel = ^uint64(2176) + 1
	contextMax         = ^uint64(4095) + 1
)

// walk makes frames of a sample's addresses.
func (d *data) walk(s *perfdata.Sample) {
	d.stack = d.stack[:0]
	inKernel := s.Mode == perfdata.Kernel || s.Mode == perfdata.GuestKernel
	if len(s.Chain) == 0 && (s.Stack == nil || inKernel) {
		d.push(s.PID, s.IP, inKernel)
	}
	for b := s.Chain; len(b) >= 8 && len(d.stack) <= mostDepth; b = b[8:] {
		addr := binary.LittleEndian.Uint64(b)
		if addr >= contextMax {
			inKernel = addr == contextKernel || addr == contextGuestKernel
			continue
		}
		if !inKernel && s.Stack != nil {
			continue // the copy tells more
		}
		if len(d.stack) > 0 && addr > 0 {
			addr-- // a return address is that of the next instruction, which may be the next function's
		}
		d.push(s.PID, addr, inKernel)
	}
	if s.Stack != nil {
		d.copied(s)
	}
}

func (d *data) push(pid int, addr uint64, inKernel bool) {
	if inKernel {
		id, ok := d.kernels[addr]
		if !ok {
			id = d.id(d.kernelFrame(addr))
			if len(d.kernels) < mostAddresses {
				d.kernels[addr] = id
			}
		}
		d.stack = append(d.stack, id)
		return
	}
	i := d.images[pid]
	if i == nil {
		d.stack = append(d.stack, d.id(makeFrame("", "", false)))
		return
	}
	id, ok := i.frames[addr]
	if !ok {
		id = d.id(d.userFrame(i, addr))
		if d.held < mostAddresses {
			if i.frames == nil {
				i.frames = map[uint64]int32{}
			}
			i.frames[addr] = id
			d.held++
		}
	}
	d.stack = append(d.stack, id)
}

func (d *data) kernelFrame(addr uint64) frame {
	if m, ok := findMap(d.bpf, addr); ok {
		return makeFrame(m.Path, "", true)
	}
	if name := d.objects.inKernel(addr); name != "" {
		return makeFrame(name, "", true)
	}
	f := makeFrame("", "", true)
	if m, ok := findMap(d.kernel, addr); ok && !strings.HasPrefix(m.Path, "[kernel") {
		f.function = "[" + strings.Trim(strings.TrimSuffix(path.Base(m.Path), ".ko"), "[]") + "]" // a module
	}
	return f
}

func (d *data) userFrame(i *image, addr uint64) frame {
	m, ok := i.find(addr)
	if !ok {
		return makeFrame("", "", false)
	}
	object := m.Path
	if strings.HasPrefix(object, "//anon") || object == "" { // as made tells, but for what the kernel maps itself
		return makeFrame("", "[anon]", false) // code made at run time
	}
	name := d.objects.name(object, m.BuildID, addr-m.Start+m.Offset)
	if name == "" {
		d.elsewhere++
	}
	return makeFrame(name, object, false)
}

// behind reads what stands behind the records, where the file can be read anywhere.
func behind(f *perfdata.File, in *reader.Input) bool {
	if in.Packed != "" || in.Size == 0 || f.Pipe {
		return false
	}
	r, err := os.Open(in.Path)
	if err != nil {
		return false
	}
	defer r.Close()
	f.ReadFeatures(r)
	return true
}

func readDataInto(ctx context.Context, in *reader.Input, o reader.Options, out recording.Sink) (reader.Told, error) {
	from := &stream{in: in}
	f, err := perfdata.Open(from)
	if from.err != nil {
		return reader.Told{}, from.torn()
	}
	if err != nil {
		return reader.Told{}, fmt.Errorf("read %s: %w: on the host that recorded, run: perf script --header -F +pid -i %s > perf.txt", in.Path, err, path.Base(in.Path))
	}
	whole := behind(f, in)
	all := &f.Features
	if all.BuildIDs == nil {
		all.BuildIDs = map[string]string{}
	}
	c := comments{last: int64(min(all.Last, maxSeconds*1e9)), wall: int64(min(all.Wall, maxSeconds*1e9)), mono: int64(min(all.Clock, maxSeconds*1e9))}
	place := func(first int64) placed { return c.place(first, -1, o.Modified) }
	d := newData(newTally(out), place, newObjects("/", all.BuildIDs))
	d.file, d.modified = f, o.Modified
	d.objects.recorded(all, o.Modified)
	counts, err := f.Read(ctx, from, d)
	d.end()
	switch {
	case from.err != nil:
		err = from.torn()
	case err != nil && ctx.Err() == nil:
		err = fmt.Errorf("read %s: %w", in.Path, err)
	}
	var p placed
	if d.placed != nil {
		p = *d.placed
	}
	told := d.told("perf.data", p)
	told.Host = all.Hostname
	told.Machine = reader.Machine{Kernel: all.Release, Arch: all.Arch, CPUs: max(all.CPUs, d.cpus)}
	told.Facts = d.facts(factsOf(all))
	told.Coverage = append(told.Coverage, d.libraries(told.First))
	d.say(&told, f, counts, whole, in.Path)
	return told, err
}

// factsOf are what perf knew of the host.
func factsOf(all *perfdata.Features) (out []recording.Fact) {
	for _, f := range []struct{ name, value string }{
		{"perf.version", all.Version}, {"cpu.model", all.CPU}, {"perf.cmdline", secrets.Line(all.Cmdline)},
	} {
		if f.value != "" {
			out = append(out, recording.Fact{Name: f.name, Value: f.value[:min(len(f.value), mostFact)], Source: "perf.data"})
		}
	}
	return out
}

// onOrigin is what to run where the objects are.
const onOrigin = "on the host that recorded: perf script --header -F +pid > perf.txt, and read that; or perf archive, and unpack it here into ~/.debug"

// say adds what the records left open.
func (d *data) say(told *reader.Told, f *perfdata.File, counts perfdata.Counts, whole bool, file string) {
	stacks, symbols := &told.Coverage[0], &told.Coverage[2]
	stacks.Lost += d.lostRecords + counts.Damaged + counts.Unknown
	if f.Unended {
		partial(stacks, "perf was ended before it could close the file: build ids and the host's description are missing")
	}
	if d.lostRecords > 0 {
		partial(stacks, "perf lost %d records while it recorded", d.lostRecords)
		cure(stacks, "perf record -m 4M, or a lower -F")
	}
	if n := counts.Damaged + counts.Unknown; n > 0 {
		partial(stacks, "%d records are damaged, or of an event that the file does not describe", n)
	}
	if counts.Hurried > 0 {
		partial(stacks, "%d records may stand out of order: more were waiting for their turn than are kept", counts.Hurried)
	}
	d.copies.say(stacks, file)
	if d.periodless > 0 {
		partial(stacks, "%d samples have no period: each counts as one", d.periodless)
	}
	if d.crowded > 0 {
		partial(stacks, "mappings of processes over %d are left out", mostImages)
	}
	if d.objects.kernel == nil && len(d.kernels) > 0 {
		partial(symbols, "the kernel's functions have no names: it is not the kernel that runs here, or it was started again since")
	}
	if d.elsewhere > 0 {
		partial(symbols, "%d addresses lie in files that are not here with the same build id, or have no symbols", d.elsewhere)
	}
	if !whole && !f.Pipe {
		partial(symbols, "the file is packed: unpack it, so that its build ids can be read")
	}
	if symbols.State != recording.CoverageOK {
		symbols.Cure = onOrigin
	}
}
