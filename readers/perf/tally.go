package perf

import "snag/recording"

// Bounds of what is kept of one file.
const (
	mostStacks  = 32768   // different ones; of further samples only the function that ran
	mostWritten = 8 << 20 // bytes of the names in all of them
	mostDepth   = 512     // frames of one
	mostThreads = 65536
	// mostRowsEach are kept of one second, or longer: of threads with their stacks.
	mostRowsEach = 3 << 14
	mostEvents   = 64
	mostFrames   = 1 << 16  // different functions
	mostText     = 12 << 20 // bytes of their names and objects
	mostComms    = 65536
	mostComm     = 64 // bytes of one: the kernel's have 15
	mostEvent    = 128
	mostObjects  = 8 // of one stack whose frames without a name are counted by object
)

// tally counts samples by thread and stack, and writes the rows of each second.
type tally struct {
	out recording.Sink

	ids     map[frame]int32
	frames  []frame             // by id
	text    int                 // bytes of them
	stacks  map[uint64]int32    // their numbers, by hash
	short   map[shortKey]*stack // of what came when there were too many
	order   []*stack            // by number, from 1 on
	free    []int32             // numbers that nothing has any more
	thinned int                 // times
	full    bool                // thinning makes this cell's rows no fewer
	// pinned: numbers of stacks are kept elsewhere until their weights are read.
	pinned  bool
	paths   map[kernelPath]int32
	pathOf  []kernelPath // by number, from 1 on
	comms   map[string]commID
	names   []string // by commID
	events  map[string]*event
	sampled []*event         // as they came
	main    *event           // the one that the kernel's functions are counted by
	rows    map[rowKey]int32 // where it is counted
	counted []counted
	kernel  map[kernelKey]*kernelCount
	cell    cell
	wrote   int
	key     []byte
	ran     []string // the kernel's functions of one stack

	first, last int64
	samples     uint64 // without idle ones
	idle        uint64 // a CPU had nothing to do
	threadless  uint64 // samples whose thread was over a bound
	lost        uint64 // times off the CPUs for which there was no room
	shortened   uint64 // those of which only the function that ran is told
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
	index   int32 // in sampled
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

// rowKey, counted and kernelKey hold no pointers: the collector has nothing to look for
// in a hundred thousand of them.
type rowKey struct{ pid, tid, stack, comm, event int32 }

type counted struct {
	rowKey
	n      uint64
	weight float64
}

// kernelPath is a function of the kernel that ran, and what names the path to it.
type kernelPath struct{ function, caller string }

type kernelKey struct{ path, pid int32 }

type kernelCount struct {
	n    uint64
	comm commID
}

func newTally(out recording.Sink) *tally {
	return &tally{
		out: out, ids: map[frame]int32{}, frames: []frame{{}}, stacks: map[uint64]int32{}, paths: map[kernelPath]int32{}, short: map[shortKey]*stack{}, comms: map[string]commID{"others": 0}, names: []string{"others"},
		events: map[string]*event{}, rows: map[rowKey]int32{}, kernel: map[kernelKey]*kernelCount{},
		cell: cell{length: 1e9}, first: -1, unnamedIn: map[string]*uint64{},
	}
}

// id gives a frame its number; 0 once there are too many.
func (t *tally) id(f frame) int32 {
	id, ok := t.ids[f]
	if n := len(f.function) + len(f.object); !ok && len(t.frames) < mostFrames && t.text+n <= mostText {
		t.text += n
		id = int32(len(t.frames))
		t.frames = append(t.frames, f)
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
		e = &event{name: n, kind: kindOf(n), index: int32(len(t.sampled))}
		t.events[n] = e
		t.sampled = append(t.sampled, e)
	}
	return e
}

// add counts a sample with its stack, innermost frame first.
func (t *tally) add(s sample, frames []int32) { t.count(&s, t.stackOf(frames)) }

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
		st = &stack{}
	}
	if st.light {
		st = t.shortFor(st)
	}
	if st.deep {
		t.deep += s.n
	}
	t.named += s.n * st.named
	for _, u := range st.unnamed {
		t.unnamed += s.n * u.frames
		*u.all += s.n * u.frames
	}
	if st.path > 0 && t.main == s.event {
		t.inKernel(s, st)
	}
	k := rowKey{int32(s.pid), int32(s.tid), int32(st.id), int32(s.comm), s.event.index}
	i := st.row
	ok := int(i) < len(t.counted) && t.counted[i].rowKey == k
	if !ok {
		i, ok = t.rows[k]
	}
	if !ok && len(t.counted) >= mostRowsEach && st.id > 0 {
		st = t.room(st)
		k.stack = int32(st.id)
		i, ok = t.rows[k]
	}
	if !ok {
		if len(t.counted) >= mostRowsEach {
			t.threadless += s.n
			st, k = t.nobodys(s, st)
		}
		if i, ok = t.rows[k]; !ok {
			i = int32(len(t.counted))
			t.counted = append(t.counted, counted{rowKey: k})
			t.rows[k] = i
		}
	}
	st.n += s.n
	st.row = i
	t.counted[i].n += s.n
	t.counted[i].weight += s.weight
}
