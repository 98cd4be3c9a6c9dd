package perfdata

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Bits of perf_event_attr.sample_type (enum perf_event_sample_format).
const (
	sampleIP         = 1 << 0
	sampleTID        = 1 << 1
	sampleTime       = 1 << 2
	sampleAddr       = 1 << 3
	sampleRead       = 1 << 4
	sampleCallchain  = 1 << 5
	sampleID         = 1 << 6
	sampleCPU        = 1 << 7
	samplePeriod     = 1 << 8
	sampleStreamID   = 1 << 9
	sampleRaw        = 1 << 10
	sampleBranches   = 1 << 11
	sampleRegsUser   = 1 << 12
	sampleStackUser  = 1 << 13
	sampleIdentifier = 1 << 16
)

// Bits of read_format.
const (
	readEnabled = 1 << 0
	readRunning = 1 << 1
	readID      = 1 << 2
	readGroup   = 1 << 3
	readLost    = 1 << 4
)

// Bits of the flags.
const (
	flagFreq        = 1 << 10
	flagSampleIDAll = 1 << 18
)

// Attr is one event that was recorded (struct perf_event_attr).
type Attr struct {
	Name string // as perf names it, with modifiers: "cycles:ppp"
	// Period is how much of the event lies between two samples, Hz how many samples a
	// second were asked for; one of them is 0.
	Period uint64
	Hz     uint64
	// Copied reports that stacks were copied to be walked later (--call-graph dwarf).
	Copied bool
	// Registers has a bit for each of the user's registers that samples hold (enum
	// perf_event_x86_regs where the host is one).
	Registers uint64

	branchType uint64
	kind       uint32
	config     uint64
	sampleType uint64
	readFormat uint64
	idAll      bool
	ids        []uint64
}

// leastAttr is PERF_ATTR_SIZE_VER0.
const leastAttr = 64

func parseAttr(b []byte) (Attr, error) {
	if len(b) < leastAttr {
		return Attr{}, fmt.Errorf("an event's description has %d bytes, and at least %d are needed", len(b), leastAttr)
	}
	le := binary.LittleEndian
	a := Attr{kind: le.Uint32(b), config: le.Uint64(b[8:]), sampleType: le.Uint64(b[24:]), readFormat: le.Uint64(b[32:])}
	flags := le.Uint64(b[40:])
	if flags&flagFreq != 0 {
		a.Hz = le.Uint64(b[16:])
	} else {
		a.Period = le.Uint64(b[16:])
	}
	a.idAll = flags&flagSampleIDAll != 0
	a.Copied = a.sampleType&sampleStackUser != 0
	if len(b) >= 88 { // PERF_ATTR_SIZE_VER2 has the one, 3 both
		a.branchType, a.Registers = le.Uint64(b[72:]), le.Uint64(b[80:])
	}
	a.Name = nameOf(a.kind, a.config)
	return a, nil
}

// nameOf names the events that every kernel has (tools/perf/util/evsel.c). The
// file's own name for it, where it has one, goes before.
func nameOf(kind uint32, config uint64) string {
	names := [][]string{
		{"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"},
		{"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches"},
	}
	switch {
	case kind < 2 && config < uint64(len(names[kind])):
		return names[kind][config]
	case kind == 2:
		return fmt.Sprintf("tracepoint %d", config)
	}
	return fmt.Sprintf("event %d/0x%x", kind, config)
}

// Sample is one sample. Its chain is valid until the next record.
type Sample struct {
	Attr     *Attr
	PID, TID int
	CPU      int    // -1: not told
	Time     uint64 // ns on perf's clock; 0 where Timed is false
	Timed    bool
	Period   uint64 // of the event that it stands for; 0: not told
	IP       uint64
	Mode     uint16 // Kernel, User …
	Chain    []byte // addresses, 8 bytes each, with marks of where they lie; nil: none
	// Registers of user space, 8 bytes for each bit of Attr.Registers, and the copy of
	// the top of its stack, which begins at the stack pointer; nil: none. Wide tells
	// that it ran 64-bit code.
	Registers, Stack []byte
	Wide             bool
}

// Modes (PERF_RECORD_MISC_…).
const (
	Kernel      = 1
	User        = 2
	GuestKernel = 4
	modes       = 7
)

// cursor reads words of a record.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) u64() uint64 {
	if len(c.b) < 8 {
		c.bad = true
		return 0
	}
	v := binary.LittleEndian.Uint64(c.b)
	c.b = c.b[8:]
	return v
}

func (c *cursor) two() (uint32, uint32) {
	v := c.u64()
	return uint32(v), uint32(v >> 32)
}

// skip leaves n words out.
func (c *cursor) skip(n uint64) {
	if n > uint64(len(c.b)/8) {
		c.bad = true
		c.b = nil
		return
	}
	c.b = c.b[8*n:]
}

// sample reads what PERF_RECORD_SAMPLE holds up to the copy of the stack; what is behind
// is not looked at.
func (a *Attr) sample(b []byte, misc uint16, s *Sample) bool {
	c := cursor{b: b}
	*s = Sample{Attr: a, CPU: -1, Mode: misc & modes}
	has := func(bit uint64) bool { return a.sampleType&bit != 0 }
	if has(sampleIdentifier) {
		c.u64()
	}
	if has(sampleIP) {
		s.IP = c.u64()
	}
	if has(sampleTID) {
		pid, tid := c.two()
		s.PID, s.TID = int(int32(pid)), int(int32(tid))
	}
	if has(sampleTime) {
		s.Time, s.Timed = c.u64(), true
	}
	for _, bit := range []uint64{sampleAddr, sampleID, sampleStreamID} {
		if has(bit) {
			c.u64()
		}
	}
	if has(sampleCPU) {
		cpu, _ := c.two()
		s.CPU = int(int32(cpu))
	}
	s.Period = a.Period
	if has(samplePeriod) {
		s.Period = c.u64()
	}
	if has(sampleRead) {
		a.skipRead(&c)
	}
	if has(sampleCallchain) {
		n := c.u64()
		if n > uint64(len(c.b)/8) {
			return false
		}
		s.Chain = c.b[:8*n]
		c.b = c.b[8*n:]
	}
	if a.Copied && !c.bad {
		a.copied(&c, s)
	}
	return !c.bad
}

// copied reads the user's registers and stack (man perf_event_open, PERF_RECORD_SAMPLE).
func (a *Attr) copied(c *cursor, s *Sample) {
	if a.sampleType&sampleRaw != 0 && len(c.b) >= 4 { // its length and itself are whole words
		c.skip((4 + uint64(binary.LittleEndian.Uint32(c.b))) / 8)
	}
	if a.sampleType&sampleBranches != 0 {
		const hardwareIndex, counters = 1 << 17, 1 << 19 // PERF_SAMPLE_BRANCH_…
		n := c.u64()
		if a.branchType&hardwareIndex != 0 {
			c.u64()
		}
		words := uint64(3)
		if a.branchType&counters != 0 {
			words = 4
		}
		c.skip(min(n, 1<<16) * words)
	}
	if a.sampleType&sampleRegsUser != 0 {
		if abi := c.u64(); abi != 0 { // PERF_SAMPLE_REGS_ABI_NONE: it was the kernel's thread
			n := 8 * bits.OnesCount64(a.Registers)
			if n > len(c.b) {
				c.bad = true
				return
			}
			s.Registers, s.Wide = c.b[:n], abi == 2
			c.b = c.b[n:]
		}
	}
	size := c.u64()
	if size == 0 || c.bad {
		return
	}
	if size > uint64(len(c.b)) {
		c.bad = true
		return
	}
	stack := c.b[:size]
	c.b = c.b[size:]
	s.Stack = stack[:min(size, c.u64())] // as much of it as the thread had
}

// skipRead leaves out the values of counters.
func (a *Attr) skipRead(c *cursor) {
	words := func(of ...uint64) (n uint64) {
		for _, bit := range of {
			if a.readFormat&bit != 0 {
				n++
			}
		}
		return n
	}
	if a.readFormat&readGroup == 0 {
		c.skip(1 + words(readEnabled, readRunning, readID, readLost))
		return
	}
	n := c.u64()
	c.skip(words(readEnabled, readRunning))
	if n > uint64(len(c.b)) {
		c.bad = true
		return
	}
	c.skip(n * (1 + words(readID, readLost)))
}

// trailer is what stands at the end of every other record (sample_id_all): its time
// and its event, read from the end on.
func (a *Attr) trailer(b []byte) (at uint64, ok bool) {
	if !a.idAll || a.sampleType&sampleTime == 0 {
		return 0, false
	}
	n := 1 // words from the end to the time, it included
	for _, bit := range []uint64{sampleIdentifier, sampleCPU, sampleStreamID, sampleID} {
		if a.sampleType&bit != 0 {
			n++
		}
	}
	if len(b) < 8*n {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[len(b)-8*n:]), true
}

// trailerSize is how many bytes the trailer takes.
func (a *Attr) trailerSize() int {
	if !a.idAll {
		return 0
	}
	n := 0
	for _, bit := range []uint64{sampleTID, sampleTime, sampleID, sampleStreamID, sampleCPU, sampleIdentifier} {
		if a.sampleType&bit != 0 {
			n += 8
		}
	}
	return n
}

// idAt is where a sample has the number of its event: of several events each sample
// tells its own. -1: it does not.
func (a *Attr) idAt() int {
	switch {
	case a.sampleType&sampleIdentifier != 0:
		return 0
	case a.sampleType&sampleID == 0:
		return -1
	}
	at := 0
	for _, bit := range []uint64{sampleIP, sampleTID, sampleTime, sampleAddr} {
		if a.sampleType&bit != 0 {
			at += 8
		}
	}
	return at
}
