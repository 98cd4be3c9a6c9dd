package oncpu

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"snag/internal/unwind"
	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/probes/symbols"
	"snag/recording"
)

func record(pid int, hash uint64, fresh byte, kernel, user []uint64, top ...uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, hash)
	b = binary.LittleEndian.AppendUint32(b, uint32(pid))
	b = append(b, byte(len(kernel)), byte(len(user)), fresh, 0)
	b = append(b, keptFrom(100)...)
	b = append(b, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(top)))
	for _, a := range slices.Concat(kernel, user, top) {
		b = binary.LittleEndian.AppendUint64(b, a)
	}
	return b
}

func TestDecodeStack(t *testing.T) {
	raw := record(77, 5, freshProgram, []uint64{1, 2}, []uint64{3}, 8, 9)
	got, err := decodeStack(raw)
	want := taken{kind: kind{77, 5}, kernel: []uint64{1, 2}, user: []uint64{3}, fresh: freshProgram, at: unwind.Kept(keptFrom(100)), bytes: raw[len(raw)-16:]}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v", got, err)
	}
	for n := range raw {
		if _, err := decodeStack(raw[:n]); err == nil {
			t.Errorf("cut at %d: no error", n)
		}
	}
}

// keptFrom is a struct kept whose registers count up.
func keptFrom(ip uint64) (b []byte) {
	for i := range uint64(unwind.KeptSize / 8) {
		b = binary.LittleEndian.AppendUint64(b, ip+i)
	}
	return b
}

// copyOf is a record with a copy of the stack.
func copyOf(pid, tid int, comm string, ip uint64, kernel []uint64, stack []byte) []byte {
	b := record(pid, uint64(len(stack)), freshProcess, kernel, nil)[:headSize]
	b[15] = 1
	b = binary.LittleEndian.AppendUint32(b, uint32(tid))
	b = append(b, 0, 0, 0, 0)
	b = append(b, comm...)
	b = append(b, make([]byte, 16-len(comm))...)
	b = append(b, keptFrom(ip)...)
	for _, v := range append(kernel, make([]uint64, 64-len(kernel))...) {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return append(append(b, stack...), 0, 0, 0)
}

func TestDecodeCopy(t *testing.T) {
	raw := copyOf(77, 78, "relay", 1, []uint64{9, 8}, []byte("stack"))
	got, err := decodeStack(raw)
	want := taken{kind: kind{pid: 77}, kernel: []uint64{9, 8}, fresh: freshProcess, copied: true, tid: 78, comm: "relay", at: unwind.Kept(keptFrom(1)), bytes: []byte("ack")}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v", got, err)
	}
	for n := range len(raw) - 3 {
		if _, err := decodeStack(raw[:n]); err == nil {
			t.Errorf("cut at %d: no error", n)
		}
	}
	if a, b := hashOf([]uint64{1, 2}, []uint64{3}), hashOf([]uint64{1}, []uint64{2, 3}); a == b {
		t.Error("the kernel's frames are taken for the program's")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(copyOf(77, 78, "relay", 0, nil, []byte("stack")))
	f.Add(record(77, 5, 1, []uint64{1, 2}, []uint64{3}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := decodeStack(b); err == nil && 8*(len(s.kernel)+len(s.user))+len(s.bytes) > len(b) {
			t.Error("more frames than bytes")
		}
		if len(b) >= keySize+valueSize {
			_, _ = decodeCount(b[:keySize], b[keySize:keySize+valueSize])
		}
	})
}

func fill(t *tally, at recording.Time, pid, tid int, hash, n uint64) {
	t.take(taken{kind: kind{pid, hash}, user: []uint64{hash}}, nil)
	t.count(at, []counted{{kind: kind{pid, hash}, tid: tid, comm: fmt.Sprintf("t%d", tid), n: n}})
}

func TestOnlyTheHeaviestStacksAreNamed(t *testing.T) {
	y := newTally(false)
	fill(y, 0, 7, 7, 100, 50)
	fill(y, 0, 7, 8, 101, 2)
	fill(y, 1e9, 7, 8, 102, 1)
	fill(y, 1e9, 9, 9, 103, 10)
	y.count(1e9, []counted{{kind: kind{9, 0}, tid: 9, comm: "t9", n: 4}})
	top := y.heaviest(2, 2)
	if len(top) != 2 || top[0].hash != 100 || top[1].hash != 103 {
		t.Fatalf("%+v", top)
	}
	for i, s := range top {
		s.named, s.id = true, i+1
	}
	want := []recording.OnCPU{
		{T: 0, PID: 7, TID: 7, Comm: "t7", Stack: 1, N: 50, Hz: 99},
		{T: 0, PID: 7, Comm: "t8", N: 2, Hz: 99},
		{T: 1e9, PID: 7, Comm: "t8", N: 1, Hz: 99},
		{T: 1e9, PID: 9, TID: 9, Comm: "t9", Stack: 2, N: 10, Hz: 99},
		{T: 1e9, PID: 9, Comm: "t9", N: 4, Hz: 99},
	}
	if got := y.flush(99, false); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := y.flush(99, false); got != nil {
		t.Errorf("again: %+v", got)
	}
	if gone := y.settle(); gone != nil || len(y.heaviest(10, 1)) != 0 {
		t.Errorf("%v forgotten", gone)
	}
}

// No sample is lost by putting threads together.
func TestCrowdOfThreads(t *testing.T) {
	for _, whole := range []bool{false, true} {
		y := newTally(false)
		for tid := range 500 {
			fill(y, recording.Time(tid%3)*1e9, 7, 7+tid, 100, 1)
		}
		s := y.heaviest(1, 2)
		s[0].named, s[0].id = true, 5
		rows := y.flush(99, whole)
		sum := uint64(0)
		for _, r := range rows {
			sum += r.N
			if r.Stack != 5 {
				t.Errorf("%+v", r)
			}
		}
		if want := map[bool]int{false: 3, true: 500}[whole]; len(rows) != want || sum != 500 {
			t.Errorf("whole %v: %d rows of %d samples", whole, len(rows), sum)
		}
	}
}

func TestFullTally(t *testing.T) {
	y := newTally(false)
	for i := range mostStacks {
		if !y.take(taken{kind: kind{1, uint64(i)}, user: []uint64{uint64(i)}}, nil) {
			t.Fatalf("no room for stack %d", i)
		}
	}
	if y.take(taken{kind: kind{2, 1}}, nil) {
		t.Error("one too many")
	}
	if !y.take(taken{kind: kind{1, 1}}, nil) {
		t.Error("a stack that is there is refused")
	}
	y.count(0, []counted{{kind: kind{1, 5}, n: 1}})
	if gone := y.settle(); len(gone) < mostStacks/2-1 || y.stacks[kind{1, 5}] == nil {
		t.Errorf("%d forgotten", len(gone))
	}
	for range mostRows + 3 {
		y.count(0, []counted{{kind: kind{1, 5}, n: 2}})
	}
	if y.left != 2*4 {
		t.Errorf("%d left", y.left)
	}
}

func TestProfileOfTheKernel(t *testing.T) {
	stacks := map[kind]*stack{}
	var entries []counted
	for i := range 30 {
		k := kind{10 + i, 1}
		stacks[k] = &stack{function: fmt.Sprintf("f%02d", i), caller: "ip_rcv"}
		entries = append(entries, counted{kind: k, n: uint64(100 - i), comm: "c"})
	}
	entries = append(entries, counted{kind: kind{10, 2}, n: 1000})                 // in user space
	entries = append(entries, counted{kind: kind{10, 1}, tid: 3, n: 7, comm: "c"}) // another thread of the same
	rows := profile(5, entries, func(k kind) *stack { return stacks[k] }, 4000, 99)
	if len(rows) != profileEach+1 || rows[0] != (recording.ProfileRow{T: 5, Function: "f00", Caller: "ip_rcv", Comm: "c", PID: 10, Samples: 107, All: 4000, Hz: 99}) {
		t.Errorf("%d rows, %+v", len(rows), rows[0])
	}
	sum := uint64(0)
	for _, r := range rows {
		sum += r.Samples
	}
	if last := rows[profileEach]; last.Function != "others" || sum != 2565+7 {
		t.Errorf("%+v, %d samples", last, sum)
	}
	if rows := profile(5, nil, nil, 198, 99); len(rows) != 1 || rows[0].Samples != 0 || rows[0].All != 198 {
		t.Errorf("an idle second: %+v", rows)
	}
}

func TestQuality(t *testing.T) {
	q := judge([]symbols.Frame{{Function: "vfs_read", Named: true}}, []symbols.Frame{{Function: "x+0x1", Object: "/bin/x"}, {Function: "f", Object: "/bin/x", Named: true}}, symbols.CutNoFramePointers)
	var sum quality
	sum.add(q, 3)
	if sum.samples != 3 || sum.frames != 9 || sum.named != 6 || sum.cut != 3 || sum.unnamedIn["/bin/x"] != 3 || sum.cutIn["/bin/x"] != 3 {
		t.Errorf("%+v", sum)
	}
}

// What was lost is counted and said, with a cure.
func TestLosses(t *testing.T) {
	sink := probetest.NewSink()
	r := &running{env: &probe.Env{Sink: sink, Stacks: probe.NewStacks(sink, 10)}, sweep: &sweeper{}, tally: newTally(false), names: symbols.New(t.TempDir())}
	state := func(measure string) recording.Coverage {
		t.Helper()
		r.coverage()
		c, _ := sink.Recording().Measured(measure)
		return c
	}
	if c := state("oncpu.stacks"); c.State != recording.CoverageOK {
		t.Errorf("nothing lost: %+v", c)
	}
	if c := state("oncpu.kernel"); c.State != recording.CoverageUnavailable || c.Cure == "" {
		t.Errorf("no kallsyms: %+v", c)
	}
	r.sweep.totals[totalLost], r.sweep.totals[totalStacks], r.unheld = 5, 7, 9
	for _, measure := range []string{"oncpu", "oncpu.stacks", "oncpu.symbols"} {
		if c := state(measure); c.State != recording.CoveragePartial || c.Why == "" || c.Cure == "" {
			t.Errorf("%s: %+v", measure, c)
		}
	}
	if c := state("oncpu"); c.Lost != 5 {
		t.Errorf("%+v", c)
	}
	r.quality = quality{samples: 100, frames: 1000, named: 500, cut: 40, unnamedIn: map[string]float64{"/usr/lib/libx264.so.164": 500}, cutIn: map[string]float64{"/usr/lib/libx264.so.164": 40}}
	if c := state("oncpu.stacks"); !strings.Contains(c.Why, "40 % of the samples") || !strings.Contains(c.Why, "libx264.so.164") || !strings.Contains(c.Cure, "--dwarf") {
		t.Errorf("%+v", c)
	}
	if c := state("oncpu.symbols"); !strings.Contains(c.Why, "50 % of the frames have a name") {
		t.Errorf("%+v", c)
	}
	r.env.Whole, r.env.Target.PIDs = true, []int{1}
	if c := state("oncpu.kernel"); c.State != recording.CoverageOff {
		t.Errorf("one process: %+v", c)
	}
}

// For days, each process of a host that compiles leaves some stacks, and what it had mapped with them.
func TestFewStacksAreKeptForDays(t *testing.T) {
	for continuous, most := range map[bool]int{false: mostStacks / 2, true: manyStacks} {
		y := newTally(continuous)
		for n := range 6 {
			for i := range 1500 {
				fill(y, recording.Time(n)*1e9, n, n, uint64(n*1500+i), 1)
			}
			y.flush(99, false)
			y.settle()
		}
		if len(y.stacks) > most || len(y.same) > most || !continuous && len(y.stacks) != 9000 {
			t.Errorf("continuous %v: %d stacks are kept, %d of them different", continuous, len(y.stacks), len(y.same))
		}
		fill(y, 10e9, 5, 5, 5*1500, 3)
		if top := y.heaviest(1, 2); len(top) != 1 || top[0].hash != 5*1500 {
			t.Errorf("continuous %v: a stack that came again is not known: %+v", continuous, top)
		}
	}
}
