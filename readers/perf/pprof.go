package perf

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"snag/readers/reader"
	"snag/recording"
)

// The fields of pprof's message, Profile, by how they are encoded (proto/profile.proto).
const (
	pprofSampleType = 1
	pprofMessages   = 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<11 | 1<<13 // bits by number
	pprofNumbers    = 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<12 | 1<<13 | 1<<14 | 1<<15
)

// sniffPprof tells pprof's protocol buffer. Its fields stand in any order: Go's runtime begins
// with the time or the kind of period, others with a sample_type. The first sample_type must
// be there, with the index of a string as its first field, and nothing else before it.
func sniffPprof(head []byte) bool {
	const varint, bytes, index = 0, 2, 1 << 3
	for range 16 {
		tag, n := binary.Uvarint(head)
		if n <= 0 || tag>>3 > 15 {
			return false
		}
		number := tag >> 3
		head = head[n:]
		value, n := binary.Uvarint(head)
		if n <= 0 {
			return false
		}
		head = head[n:]
		switch {
		case tag&7 == varint && pprofNumbers>>number&1 == 1:
		case tag&7 == bytes && pprofMessages>>number&1 == 1 && value <= uint64(len(head)):
			if number == pprofSampleType {
				return value >= 2 && value < 24 && head[0] == index
			}
			head = head[value:]
		default:
			return false
		}
	}
	return false
}

func readPprofInto(ctx context.Context, in *reader.Input, o reader.Options, out recording.Sink) (reader.Told, error) {
	file, err := newTwice(in)
	if err != nil {
		return reader.Told{}, err
	}
	damaged := func(err error) error {
		if torn := file.torn(); torn != nil {
			return torn
		}
		return fmt.Errorf("read %s: it begins as pprof's and is damaged: %w", in.Path, err)
	}
	names, err := pprofNames(file.first())
	if err != nil {
		return reader.Told{}, damaged(err)
	}
	p, err := parsePprof(names)
	if err != nil {
		return reader.Told{}, damaged(err)
	}
	at := o.Modified.UnixNano()
	why := "the file does not say when it was: its last change is taken"
	if p.TimeNanos > 0 && p.TimeNanos < maxSeconds*1e9 {
		at, why = p.TimeNanos, ""
	}
	t := newTally(out)
	off := map[offKey]*recording.OffCPU{}
	var skipped uint64
	err = file.again(ctx, func(r io.Reader) error {
		return pprofSamples(r, names, func(p *profile.Profile) { skipped += t.pprof(p, at, off) })
	})
	for _, row := range off {
		out.Append(*row)
	}
	t.end()
	told := t.told("pprof's profiles", placed{why: why})
	if t.first >= 0 && p.DurationNanos > 0 && p.DurationNanos < maxSeconds*1e9 {
		told.Last = recording.Time(t.first + p.DurationNanos)
	}
	if skipped > 0 {
		partial(&told.Coverage[0], "%d values below zero are left out: it is a difference of two", skipped)
	}
	if err != nil {
		return told, damaged(err)
	}
	return told, nil
}

// parsePprof reads a profile. It comes out of others' files: a fault of the parser is
// no end.
func parsePprof(b []byte) (p *profile.Profile, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return profile.Parse(bytes.NewReader(b))
}

// pprofValue is one of the values that its samples have.
type pprofValue struct {
	index int
	event *event
	scale float64 // to ns of time
	off   bool    // time off the CPUs
}

// values are those to read: numbers of samples belong to each of them.
func (t *tally) values(p *profile.Profile) (values []pprofValue, count int) {
	count = -1
	for i, s := range p.SampleType {
		v := pprofValue{index: i, scale: 1}
		time := timeUnit(s.Unit)
		switch {
		case s.Unit == "count" && (s.Type == "samples" || s.Type == "sample" || s.Type == "waits"):
			count = i
			continue
		case time > 0 && (s.Type == "off-cpu" || s.Type == "offcpu"):
			v.off, v.scale = true, time
			v.event = &event{}
		case time > 0 && (s.Type == "cpu" || s.Type == "wall" || s.Type == "samples"):
			v.event, v.scale = t.eventOf([]byte("cpu-clock")), time
		default:
			v.event = t.eventOf([]byte(s.Type))
		}
		values = append(values, v)
	}
	if len(values) == 0 && count >= 0 {
		values = append(values, pprofValue{index: count, event: t.eventOf([]byte(foldedEvent))})
	}
	return values, count
}

func timeUnit(unit string) float64 {
	switch unit {
	case "nanoseconds", "ns":
		return 1
	case "microseconds", "us":
		return 1e3
	case "milliseconds", "ms":
		return 1e6
	case "seconds", "s":
		return 1e9
	}
	return 0
}

// pprof counts its samples, all at one time: it has no other. Waits off the CPUs are added
// to off.
func (t *tally) pprof(p *profile.Profile, at int64, off map[offKey]*recording.OffCPU) (skipped uint64) {
	values, count := t.values(p)
	ids := map[uint64][]int32{} // of locations
	for _, s := range p.Sample {
		var stack []int32
		for _, l := range s.Location {
			all, ok := ids[l.ID]
			if !ok {
				for _, f := range pprofFrames(l) {
					all = append(all, t.id(f))
				}
				ids[l.ID] = all
			}
			stack = append(stack, all...)
		}
		one := sample{at: at, n: 1}
		one.comm, one.pid, one.tid = t.labels(s, p)
		if count >= 0 {
			one.n = uint64(max(s.Value[count], 0))
		}
		for _, v := range values {
			w := s.Value[v.index]
			if w < 0 {
				skipped++
			}
			if w <= 0 {
				continue
			}
			k := one
			k.event, k.weight = v.event, float64(w)*v.scale
			if count < 0 && k.event.kind == clock && p.Period > 0 { // of a profile without counts
				k.n = uint64(max(float64(w)/float64(p.Period), 1))
			}
			k.n = max(k.n, 1)
			switch {
			case v.off:
				t.wait(off, k, stack, reasonOf(s))
			case v.index == count:
				k.n, k.weight = uint64(w), 0
				t.add(k, stack)
			default:
				t.add(k, stack)
			}
		}
	}
	return skipped
}

type offKey struct {
	pid, tid, stack int
	reason          string
}

// wait counts time off the CPUs.
func (t *tally) wait(rows map[offKey]*recording.OffCPU, s sample, stack []int32, reason string) {
	k := offKey{pid: s.pid, tid: s.tid, reason: reason}
	if st := t.stackOf(stack); st != nil {
		k.stack, st.pinned = st.id, true
		st.n += s.n
	}
	if rows[k] == nil {
		if len(rows) >= mostThreads {
			t.lost += s.n
			return
		}
		rows[k] = &recording.OffCPU{T: recording.Time(s.at), PID: s.pid, TID: s.tid, Comm: t.names[s.comm], Stack: k.stack, Reason: reason}
	}
	if t.first < 0 {
		t.first, t.last = s.at, s.at
	}
	t.waits += s.n
	rows[k].N += s.n
	rows[k].Sum += s.weight / 1e9
}

// labels are who was sampled: snag's own labels, or py-spy's and others'.
func (t *tally) labels(s *profile.Sample, p *profile.Profile) (id commID, pid, tid int) {
	number := func(names ...string) int {
		for _, name := range names {
			if v := s.NumLabel[name]; len(v) > 0 && v[0] > 0 && v[0] <= 1<<22 {
				return int(v[0])
			}
		}
		return 0
	}
	text := func(names ...string) string {
		for _, name := range names {
			if v := s.Label[name]; len(v) > 0 && v[0] != "" {
				return v[0][:min(len(v[0]), 64)]
			}
		}
		return ""
	}
	pid, tid = number("pid", "process_id"), number("tid", "thread_id", "thread id")
	comm := text("thread", "comm", "thread_name", "thread name", "process")
	if i := strings.LastIndexByte(comm, '['); i > 0 && strings.HasSuffix(comm, "]") {
		if _, err := strconv.Atoi(comm[i+1 : len(comm)-1]); err == nil {
			comm = comm[:i]
		}
	}
	if comm == "" && len(p.Mapping) > 0 { // the program
		f := p.Mapping[0].File
		comm = f[strings.LastIndexByte(f, '/')+1:]
	}
	if comm == "" {
		comm = "all"
	}
	return t.comm([]byte(comm)), pid, tid
}

func reasonOf(s *profile.Sample) string {
	if v := s.Label["reason"]; len(v) > 0 {
		return v[0][:min(len(v[0]), 64)]
	}
	return ""
}

// pprofFrames are the functions at a location, those inlined into it first.
func pprofFrames(l *profile.Location) (out []frame) {
	object := ""
	if l.Mapping != nil {
		object = l.Mapping.File
	}
	inKernel := strings.HasPrefix(object, "[kernel") || object == "[guest.kernel.kallsyms]"
	for _, line := range l.Line {
		if line.Function == nil {
			continue
		}
		name := line.Function.Name
		f := makeFrame(name, object, inKernel)
		f.named = f.named && !strings.Contains(name, "+0x") && !strings.HasPrefix(name, "[")
		out = append(out, f)
	}
	if len(out) == 0 {
		out = append(out, makeFrame("", object, inKernel))
	}
	return out
}
