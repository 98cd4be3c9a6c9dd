package perfdata

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// log keeps what a handler was told, in order.
type log struct{ lines []string }

func (l *log) add(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}
func (l *log) Sample(s *Sample) {
	l.add("sample %s %d/%d cpu%d at %d period %d chain %d", s.Attr.Name, s.PID, s.TID, s.CPU, s.Time, s.Period, len(s.Chain)/8)
}
func (l *log) Map(m Map) {
	l.add("map %d %x+%x %s %s %v", m.PID, m.Start, m.Size, m.Path, m.BuildID, m.Unexecutable)
}
func (l *log) Comm(pid, tid int, comm string, exec bool) {
	l.add("comm %d/%d %s %v", pid, tid, comm, exec)
}
func (l *log) Fork(pid, parent, tid, parentTID int) {
	l.add("fork %d<%d %d<%d", pid, parent, tid, parentTID)
}
func (l *log) Exit(pid, tid int)                      { l.add("exit %d/%d", pid, tid) }
func (l *log) Symbol(start, size uint64, name string) { l.add("symbol %x+%x %s", start, size, name) }
func (l *log) Lost(n uint64)                          { l.add("lost %d", n) }
func (l *log) File(path, id string)                   { l.add("file %s %s", path, id) }

func words(v ...uint64) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

func pair(a, b uint32) uint64 { return uint64(b)<<32 | uint64(a) }

func text(s string) []byte { return append([]byte(s), make([]byte, 8-len(s)%8)...) }

func record(kind uint32, misc uint16, body ...[]byte) []byte {
	all := bytes.Join(body, nil)
	b := binary.LittleEndian.AppendUint32(nil, kind)
	b = binary.LittleEndian.AppendUint16(b, misc)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(all)+8))
	return append(b, all...)
}

const usualType = sampleIdentifier | sampleIP | sampleTID | sampleTime | sampleCPU | samplePeriod | sampleCallchain

// attr is that of an event with these ids.
func attr(kind uint32, config, sampleType uint64, ids ...uint64) []byte {
	a := words(pair(kind, 64), config, 99, sampleType, 0, flagFreq|flagSampleIDAll, 0, 0)
	return record(recAttr, 0, a, words(ids...))
}

// trailer is what every other record ends in, of usualType.
func trailer(at uint64) []byte { return words(pair(7, 7), at, 0, 1) }

func sampled(id, at uint64, chain ...uint64) []byte {
	return record(recSample, User, words(id, 0x401000, pair(7, 8), at, 3, 100, uint64(len(chain))), words(chain...))
}

var pipe = append(bytes.Clone(magic), words(pipeSize)...)

func run(t *testing.T, b []byte) (*log, Counts, error) {
	t.Helper()
	r := bytes.NewReader(b)
	f, err := Open(r)
	if err != nil {
		t.Fatal(err)
	}
	l := &log{}
	c, err := f.Read(context.Background(), r, l)
	return l, c, err
}

func TestRecordsInTheOrderOfTheirTimes(t *testing.T) {
	round := record(recFinishedRound, 0)
	b := bytes.Join([][]byte{
		pipe, attr(1, 0, usualType, 1), attr(0, 0, usualType, 2),
		record(recMmap2, 0, words(pair(7, 7), 0x400000, 0x1000, 0, 0, 0, 0, pair(5, 2)), text("/opt/relay"), trailer(10)),
		sampled(1, 30, contextUserMark, 0x401000), // of CPU 0
		sampled(2, 20), // of CPU 1
		round,
		sampled(1, 25),
		record(recComm, miscCommExec, words(pair(7, 7)), text("relay"), trailer(5)),
		round,
		record(recFork, 0, words(pair(9, 7), pair(9, 7), 40), trailer(40)),
		record(recExit, 0, words(pair(9, 7), pair(9, 7), 41), trailer(41)),
		record(recLost, 0, words(1, 34), trailer(41)),
		record(recKsymbol, 0, words(0xffffffffc0000000, 0x80), text("bpf_prog_x"), trailer(42)),
		record(recMmap2, miscMmapBuildID, words(pair(9, 9), 0x7f0000000000, 0x1000, 0), []byte{20, 0, 0, 0}, bytes.Repeat([]byte{0xab}, 20), words(pair(5, 2)), text("/lib/x.so"), trailer(43)),
	}, nil)
	l, c, err := run(t, b)
	want := []string{
		"comm 7/7 relay true",
		"map 7 400000+1000 /opt/relay  false",
		"sample cycles 7/8 cpu3 at 20 period 100 chain 0",
		"sample cpu-clock 7/8 cpu3 at 25 period 100 chain 0",
		"sample cpu-clock 7/8 cpu3 at 30 period 100 chain 2",
		"fork 9<7 9<7",
		"exit 9/9",
		"lost 34",
		"symbol ffffffffc0000000+80 bpf_prog_x",
		"map 9 7f0000000000+1000 /lib/x.so " + strings.Repeat("ab", 20) + " false",
	}
	if err != nil || !reflect.DeepEqual(l.lines, want) || c.Samples != 3 || c.Damaged != 0 {
		t.Errorf("%v %+v\n%s\nwant\n%s", err, c, strings.Join(l.lines, "\n"), strings.Join(want, "\n"))
	}
}

const contextUserMark = ^uint64(512) + 1

func TestPackedRecordsMayBeCutAnywhere(t *testing.T) {
	var plain []byte
	for i := range 2000 {
		plain = append(plain, sampled(1, uint64(i), contextUserMark, 0x401000+uint64(i*7919%4096))...)
	}
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	b := append(bytes.Clone(pipe), attr(1, 0, usualType, 1)...)
	for len(plain) > 0 {
		n := min(len(plain), 9973) // in the middle of a record
		_, _ = z.Write(plain[:n])
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
		plain = plain[n:]
		b = append(b, record(recCompressed, 0, packed.Bytes())...)
		packed.Reset()
	}
	l, c, err := run(t, b)
	if err != nil || c.Samples != 2000 || len(l.lines) != 2000 {
		t.Fatalf("%v %+v", err, c)
	}
	broken := bytes.Clone(b)
	copy(broken[len(broken)/2:], bytes.Repeat([]byte{0xff}, 64))
	if l, _, err := run(t, broken); err == nil || len(l.lines) == 0 {
		t.Errorf("damaged data: %v, %d samples", err, len(l.lines))
	}
}

func TestWhatIsBeforeTheDamageIsHandedOn(t *testing.T) {
	whole := bytes.Join([][]byte{pipe, attr(1, 0, usualType, 1), sampled(1, 1), sampled(1, 2)}, nil)
	l, _, err := run(t, append(bytes.Clone(whole), sampled(1, 3)[:20]...))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("byte %d is cut", len(whole))) || len(l.lines) != 2 {
		t.Errorf("%v %v", err, l.lines)
	}
	l, _, err = run(t, append(bytes.Clone(whole), make([]byte, 64)...))
	if err == nil || !strings.Contains(err.Error(), "damaged from there on") || len(l.lines) != 2 {
		t.Errorf("%v %v", err, l.lines)
	}
	// A chain that says it is longer than its record.
	bad := sampled(1, 3, 1, 2)
	binary.LittleEndian.PutUint64(bad[8+6*8:], 1<<40)
	if l, c, err := run(t, append(bytes.Clone(whole), bad...)); err != nil || c.Damaged != 1 || len(l.lines) != 2 {
		t.Errorf("%v %+v %v", err, c, l.lines)
	}
}

func TestCountersInSamplesAreLeftOut(t *testing.T) {
	a := Attr{sampleType: sampleIP | sampleRead | sampleCallchain, readFormat: readGroup | readEnabled | readID}
	var s Sample
	// ip; nr, enabled, 2 × (value, id); chain
	if !a.sample(words(5, 2, 9, 1, 11, 2, 12, 1, 0x77), User, &s) || len(s.Chain) != 8 || s.Chain[0] != 0x77 {
		t.Errorf("%+v", s)
	}
	if a.sample(words(5, 1<<60, 9, 1), User, &s) {
		t.Error("a group of 2^60 counters was believed")
	}
	a.readFormat = readEnabled | readRunning | readLost
	if !a.sample(words(5, 1, 2, 3, 4, 1, 0x77), User, &s) || len(s.Chain) != 8 {
		t.Errorf("%+v", s)
	}
}

func TestForeignFilesAreNamed(t *testing.T) {
	for name, b := range map[string][]byte{
		"big-endian": append(bytes.Clone(magicBig), make([]byte, 200)...),
		"before":     append(bytes.Clone(magicOld), make([]byte, 200)...),
		"short":      magic,
	} {
		if _, err := Open(bytes.NewReader(b)); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
}

func TestQueueKeepsItsBound(t *testing.T) {
	var q queue
	var got []uint64
	hurried := uint64(0)
	b := make([]byte, 60000)
	for i := range 1000 {
		binary.LittleEndian.PutUint64(b, uint64(i^1))
		hurried += q.put(b, uint64(i^1), func(b []byte) { got = append(got, binary.LittleEndian.Uint64(b)) })
		if len(q.bytes) > mostWaiting {
			t.Fatalf("%d bytes wait", len(q.bytes))
		}
	}
	q.flush(^uint64(0), func(b []byte) { got = append(got, binary.LittleEndian.Uint64(b)) })
	if len(got) != 1000 || hurried == 0 {
		t.Fatalf("%d, %d hurried", len(got), hurried)
	}
	for i, v := range got {
		if v != uint64(i) {
			t.Fatalf("%d at %d", v, i)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(bytes.Join([][]byte{pipe, attr(1, 0, usualType, 1), sampled(1, 1, 2, 3), record(recFinishedRound, 0)}, nil))
	f.Add(append(bytes.Clone(magic), make([]byte, 200)...))
	f.Fuzz(func(_ *testing.T, b []byte) {
		r := bytes.NewReader(b)
		file, err := Open(r)
		if err != nil {
			return
		}
		file.ReadFeatures(bytes.NewReader(b))
		_, _ = file.Read(context.Background(), r, &log{})
	})
}
