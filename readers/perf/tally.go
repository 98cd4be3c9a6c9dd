package perf

import (
	"encoding/binary"
	"hash/maphash"
	"slices"

	"snag/internal/kernel"
	"snag/recording"
)

// Bounds of what is kept of one file.
const (
	mostStacks  = 65536    // different ones; further samples are counted without theirs
	mostWritten = 32 << 20 // bytes of the names in all of them
	mostDepth   = 512      // frames of one
	mostThreads = 65536
	mostEvents  = 64
	mostFrames  = 1 << 17  // different functions
	mostText    = 24 << 20 // bytes of their names and objects
	mostComms   = 65536
	mostComm    = 64 // bytes of one: the kernel's have 15
	mostEvent   = 128
	mostObjects = 8 // of one stack whose frames without a name are counted by object
)

// tally counts samples by thread and stack, and writes the rows of each second.
type tally struct {
	out recording.Sink

	ids     map[frame]int32
	known   []frame // by id
	text    int     // bytes of them
	written int     // bytes of the names in stacks
	stacks  map[uint64]*stack
	comms   map[string]commID
	names   []string // by commID
	events  map[string]*event
	order   []*event // as they came
	main    *event   // the one that the kernel's functions are counted by
	rows    map[rowKey]*recording.OnCPU
	kernel  map[kernelKey]*recording.ProfileRow
	cell    cell
	wrote   int
	key     []byte

	first, last int64
	samples     uint64 // without idle ones
	idle        uint64 // a CPU had nothing to do
	lost        uint64 // stacks and threads over a bound
	deep        uint64
	stackless   uint64
	waits       uint64 // times off the CPUs
	// Frames of different stacks, weighed by their samples.
	named, unnamed uint64
	unnamedIn      map[string]*uint64
	cpus           int // the greatest number of a CPU, and one
}

// cell is the time that rows are of: a second, or a minute of a long file.
type cell struct {
	begin, length int64   // ns
	all           uint64  // samples of the main event
	weight        float64 // ns that they stand for, where it is a clock
}

// event is one of those that were sampled.
type event struct {
	name    string
	kind    eventKind
	samples uint64
}

// eventKind is what an event says of time.
type eventKind int

const (
	counts eventKind = iota // page-faults, a tracepoint
	clock                   // weight is ns of time
	busy                    // counts while a CPU runs: cycles
)

// kindOf knows the events of perf that stand for time (perf list).
func kindOf(name string) eventKind {
	switch {
	case name == "cpu-clock" || name == "task-clock":
		return clock
	case recording.BusyEvent(name):
		return busy
	}
	return counts
}

// commID stands for a thread's name.
type commID int32

// sample is one that was read, or several that are the same.
type sample struct {
	comm     commID
	pid, tid int
	at       int64 // Unix ns
	n        uint64
	weight   float64
	event    *event
}

type stack struct {
	id       int
	function string // of the kernel, that ran; "" none
	caller   string
	idle     bool
	deep     bool // it was cut
	named    uint64
	unnamed  []unnamed
}

type rowKey struct {
	pid, tid, stack int32
	comm            commID
	event           *event
}

type kernelKey struct {
	function, caller string
	pid              int
}

func newTally(out recording.Sink) *tally {
	return &tally{
		out: out, ids: map[frame]int32{}, known: []frame{{}}, stacks: map[uint64]*stack{}, comms: map[string]commID{"others": 0}, names: []string{"others"},
		events: map[string]*event{}, rows: map[rowKey]*recording.OnCPU{}, kernel: map[kernelKey]*recording.ProfileRow{},
		cell: cell{length: 1e9}, first: -1, unnamedIn: map[string]*uint64{},
	}
}

// id gives a frame its number; 0 once there are too many.
func (t *tally) id(f frame) int32 {
	id, ok := t.ids[f]
	if n := len(f.function) + len(f.object); !ok && len(t.known) < mostFrames && t.text+n <= mostText {
		t.text += n
		id = int32(len(t.known))
		t.known = append(t.known, f)
		t.ids[f] = id
	}
	return id
}

// comm is the number of a thread's name; 0, others, once there are too many.
func (t *tally) comm(b []byte) commID {
	b = b[:min(len(b), mostComm)]
	id, ok := t.comms[string(b)]
	if !ok && len(t.names) < mostComms {
		id = commID(len(t.names))
		t.names = append(t.names, string(b))
		t.comms[string(b)] = id
	}
	return id
}

// eventOf is the event of that name.
func (t *tally) eventOf(name []byte) *event {
	name = name[:min(len(name), mostEvent)]
	e := t.events[string(name)]
	if e == nil {
		n := string(name)
		if len(t.events) >= mostEvents {
			n = "other"
			if e = t.events[n]; e != nil {
				return e
			}
		}
		e = &event{name: n, kind: kindOf(n)}
		t.events[n] = e
		t.order = append(t.order, e)
	}
	return e
}

// add counts a sample with its stack, innermost frame first.
func (t *tally) add(s sample, frames []int32) { t.count(&s, t.stackOf(frames, s.n)) }

// count counts a sample with a stack that is known; nil: none.
func (t *tally) count(s *sample, st *stack) {
	if t.first < 0 || s.at < t.first {
		t.first = s.at
	}
	t.last = max(t.last, s.at)
	if s.at >= t.cell.begin+t.cell.length || s.at < t.cell.begin {
		t.next(s.at)
	}
	s.event.samples += s.n
	if t.main == nil && s.event.kind != counts {
		t.main = s.event
	}
	if t.main == s.event {
		t.cell.all += s.n
		t.cell.weight += s.weight
	}
	if s.tid == 0 && s.pid == 0 && t.names[s.comm] == "swapper" && st != nil && st.idle {
		t.idle += s.n
		return
	}
	t.samples += s.n
	if st == nil {
		t.stackless += s.n
		st = &noStack
	}
	if st.deep {
		t.deep += s.n
	}
	t.named += s.n * st.named
	for _, u := range st.unnamed {
		t.unnamed += s.n * u.frames
		*u.all += s.n * u.frames
	}
	if st.function != "" && t.main == s.event {
		t.inKernel(s, st)
	}
	k := rowKey{int32(s.pid), int32(s.tid), int32(st.id), s.comm, s.event}
	row := t.rows[k]
	if row == nil {
		if len(t.rows) >= mostThreads {
			t.lost += s.n
			k = rowKey{event: s.event}
		}
		if row = t.rows[k]; row == nil {
			row = &recording.OnCPU{T: recording.Time(t.cell.begin), PID: int(k.pid), TID: int(k.tid), Comm: t.names[k.comm], Stack: int(k.stack)}
			t.rows[k] = row
		}
	}
	row.N += s.n
	row.Weight += s.weight
}

// noStack stands for one that is not known.
var noStack stack

// stackOf is the sample's stack, which is written when it is new; nil where it has
// none, or there were too many.
func (t *tally) stackOf(frames []int32, n uint64) *stack {
	if len(frames) == 0 {
		return nil
	}
	deep := len(frames) > mostDepth
	frames = frames[:min(len(frames), mostDepth)]
	t.key = t.key[:0]
	for _, id := range frames {
		t.key = binary.LittleEndian.AppendUint32(t.key, uint32(id))
	}
	if deep {
		t.key = append(t.key, 1)
	}
	h := maphash.Bytes(seed, t.key)
	if s, ok := t.stacks[h]; ok {
		return s
	}
	if len(t.stacks) >= mostStacks || t.written > mostWritten {
		t.lost += n
		return nil
	}
	s, row := t.makeStack(frames)
	s.deep = deep
	t.stacks[h] = s
	t.out.Append(row)
	return s
}

func (t *tally) makeStack(frames []int32) (*stack, recording.Stack) {
	s := &stack{id: len(t.stacks) + 1}
	row := recording.Stack{ID: s.id}
	for _, id := range frames {
		f := t.known[id]
		if id == 0 { // over the bound of frames
			f.function = "[other]"
		}
		t.written += len(f.function) + len(f.object)
		row.Frames, row.Objects = append(row.Frames, f.function), append(row.Objects, f.object)
		if f.kernel && row.Kernel == len(row.Frames)-1 {
			row.Kernel++
		}
		if f.named {
			s.named++
		} else {
			s.lacks(t.unnamedOf(f))
		}
	}
	if ran := row.Frames[:row.Kernel]; len(ran) > 0 && t.known[frames[0]].named {
		s.function, s.caller = kernel.Path(ran)
		s.idle = idles(ran)
	}
	if row.Kernel == len(row.Frames) {
		row.Kernel, row.Objects = -1, nil
	}
	return s, row
}

// unnamed are a stack's frames without a name in one object, and the count of all
// such frames there.
type unnamed struct {
	all    *uint64
	frames uint64
}

// lacks notes a frame without a name.
func (s *stack) lacks(all *uint64) {
	for i := range s.unnamed {
		if u := &s.unnamed[i]; u.all == all || i == mostObjects-1 {
			u.frames++
			return
		}
	}
	s.unnamed = append(s.unnamed, unnamed{all, 1})
}

// unnamedOf is the count of frames without a name in a frame's object.
func (t *tally) unnamedOf(f frame) *uint64 {
	object := f.object
	if f.kernel {
		object = "the kernel"
	}
	n := t.unnamedIn[object]
	if n == nil {
		n = new(uint64)
		t.unnamedIn[object] = n
	}
	return n
}

// idleFunctions are what a CPU runs that has nothing to do (drivers/idle,
// drivers/cpuidle, arch/*/kernel/process.c).
var idleFunctions = []string{
	"native_safe_halt", "pv_native_safe_halt", "default_idle", "default_idle_call", "arch_cpu_idle", "mwait_idle", "mwait_idle_with_hints.constprop.0", "acpi_idle_do_entry", "acpi_safe_halt",
	"acpi_idle_enter", "intel_idle", "intel_idle_irq", "intel_idle_ibrs", "intel_idle_xstate", "cpu_do_idle", "psci_enter_idle_state", "poll_idle", "haltpoll_idle", "cpuidle_enter_state", "cpuidle_enter",
	"do_idle", "cpu_startup_entry", "cpu_idle_poll", "cpu_idle_poll.isra.0", "native_irq_disable", "sched_cpu_idle",
}

// idles tells the stack of an idle CPU. One on which an interrupt came has other
// functions on top.
func idles(frames []string) bool { return slices.Contains(idleFunctions, frames[0]) }
