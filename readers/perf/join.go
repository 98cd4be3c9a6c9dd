package perf

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"maps"
	"slices"

	"snag/recording"
)

// Bounds of what is kept of one file.
const (
	mostStacks  = 65536 // different ones; further samples are counted without theirs
	mostDepth   = 512   // frames of one
	mostRows    = 200_000
	mostThreads = 65536
	mostEvents  = 64
	mostFrames  = 1 << 20
)

// join makes rows of the lines.
type join struct {
	out  recording.Sink
	base int64 // what perf's clock is put on, ns

	frames map[uint64]int32 // by a line's hash
	byName map[frame]int32  // lines that differ in their address alone are one
	known  []frame
	stacks map[uint64]int
	events map[string]*event
	rows   map[rowKey]*recording.OnCPU
	second int64
	wrote  int

	open  bool
	now   header // of the sample that is being read
	comm  string
	event *event
	stack []int32
	key   []byte

	first, last                         int64
	samples, noise, lost, deep, unnamed uint64
	named                               uint64
	pidless, stackless                  uint64
}

// event is one of those that were sampled.
type event struct {
	name    string // "" for time
	clock   bool
	samples uint64
	period  float64 // the sum of all
}

type rowKey struct {
	pid, tid, stack int
	event           *event
}

func newJoin(out recording.Sink, base int64) *join {
	return &join{
		out: out, base: base, frames: map[uint64]int32{}, byName: map[frame]int32{}, known: []frame{{}}, stacks: map[uint64]int{},
		events: map[string]*event{}, rows: map[rowKey]*recording.OnCPU{}, first: -1,
	}
}

// header begins a sample; the one before is whole.
func (j *join) header(b []byte) {
	j.end()
	h, ok := parseHeader(b)
	if !ok {
		j.noise++
		return
	}
	j.now, j.open, j.stack = h, true, j.stack[:0]
	j.comm = string(h.comm)
	j.event = j.eventOf(h.event)
	if len(h.rest) > 0 { // no chain: the line itself has the frame
		if f, ok := parseFrame(h.rest); ok {
			j.push(j.id(maphash.Bytes(seed, h.rest), f))
		}
	}
}

func (j *join) eventOf(name []byte) *event {
	e := j.events[string(name)]
	if e == nil {
		n := string(name)
		if len(j.events) >= mostEvents {
			n = "other"
			if e = j.events[n]; e != nil {
				return e
			}
		}
		e = &event{name: n, clock: n == "cpu-clock" || n == "task-clock"}
		j.events[n] = e
	}
	return e
}

// frame adds a line's frame to the sample that is being read.
func (j *join) frame(hash uint64, line []byte) {
	if !j.open {
		j.noise++
		return
	}
	id, ok := j.frames[hash]
	if !ok {
		f, good := parseFrame(line)
		if !good {
			j.noise++
			return
		}
		id = j.id(hash, f)
	}
	j.push(id)
}

// id gives a frame its number; 0 once there are too many.
func (j *join) id(hash uint64, f frame) int32 {
	if id, ok := j.frames[hash]; ok {
		return id
	}
	if len(j.frames) >= mostFrames {
		return j.byName[f]
	}
	id, ok := j.byName[f]
	if !ok {
		id = int32(len(j.known))
		j.known = append(j.known, f)
		j.byName[f] = id
	}
	j.frames[hash] = id
	return id
}

func (j *join) push(id int32) {
	if len(j.stack) >= mostDepth {
		j.deep++
		return
	}
	j.stack = append(j.stack, id)
}

// end counts the sample that was read.
func (j *join) end() {
	if !j.open {
		return
	}
	j.open = false
	j.samples++
	at := j.base + j.now.at
	if j.first < 0 {
		j.first = at
	}
	j.last = max(j.last, at)
	if at >= j.second+1e9 || at < j.second {
		j.flush()
		j.second = at - at%1e9
	}
	j.event.samples++
	j.event.period += float64(j.now.period)
	pid := j.now.pid
	if pid == 0 { // perf script names the thread alone (-F +pid tells both)
		pid = j.now.tid
		j.pidless++
	}
	k := rowKey{pid, j.now.tid, j.stackID(), j.event}
	row := j.rows[k]
	if row == nil {
		if len(j.rows) >= mostThreads {
			k = rowKey{event: j.event}
		}
		row = &recording.OnCPU{T: recording.Time(j.second), PID: k.pid, TID: k.tid, Comm: j.comm, Stack: k.stack}
		j.rows[k] = row
	}
	row.N++
	row.Weight += float64(j.now.period)
}

// stackID is the id of the sample's stack, which is written when it is new.
func (j *join) stackID() int {
	if len(j.stack) == 0 {
		j.stackless++
		return 0
	}
	j.key = j.key[:0]
	for _, id := range j.stack {
		j.key = binary.LittleEndian.AppendUint32(j.key, uint32(id))
	}
	h := maphash.Bytes(seed, j.key)
	if id, ok := j.stacks[h]; ok {
		return id
	}
	if len(j.stacks) >= mostStacks {
		j.lost++
		return 0
	}
	s := recording.Stack{ID: len(j.stacks) + 1}
	for _, id := range j.stack {
		f := j.known[id]
		s.Frames, s.Objects = append(s.Frames, f.function), append(s.Objects, f.object)
		if f.kernel && s.Kernel == len(s.Frames)-1 {
			s.Kernel++
		}
		if f.function == "[unknown]" || len(f.function) > 0 && f.function[0] == '[' {
			j.unnamed++
		} else {
			j.named++
		}
	}
	if s.Kernel == len(s.Frames) {
		s.Kernel = -1
	}
	j.stacks[h] = s.ID
	j.out.Append(s)
	return s.ID
}

// flush writes the second's rows. A long profile is written by the minute in the
// end: the recording must not grow with it.
func (j *join) flush() {
	if j.wrote > mostRows && j.last-j.second < 60e9 && len(j.rows) < mostThreads {
		return
	}
	rows := slices.SortedFunc(maps.Values(j.rows), func(a, b *recording.OnCPU) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.TID, b.TID), cmp.Compare(a.Stack, b.Stack))
	})
	byRow := map[*recording.OnCPU]*event{}
	for k, row := range j.rows {
		byRow[row] = k.event
	}
	for _, row := range rows {
		if e := byRow[row]; e.clock {
			row.Hz = 1e9 * float64(row.N) / max(row.Weight, 1)
			row.Weight = 0
		} else {
			row.Event = e.name
		}
		j.out.Append(*row)
	}
	j.wrote += len(rows)
	clear(j.rows)
}
