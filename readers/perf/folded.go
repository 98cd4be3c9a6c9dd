package perf

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"strings"

	"snag/readers/reader"
	"snag/recording"
)

// Folded stacks are lines "process;main;work_[k] 12", outermost frame first. The
// suffixes are those of stackcollapse-perf.pl: _[k] of the kernel, _[j] of code made
// at run time, _[i] of an inlined function.

// sniffFolded: each of the first lines ends in a number, and most have frames.
func sniffFolded(head []byte) bool {
	lines, stacks := 0, 0
	for range 100 {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		if !whole && lines > 0 {
			break
		}
		head = rest
		line = bytes.TrimRight(line, "\r")
		if len(line) == 0 {
			break
		}
		stack, _, ok := foldedLine(line)
		if !ok || bytes.Contains(stack, []byte(`] "`)) { // a web server's log ends in numbers as well
			return false
		}
		lines++
		if bytes.IndexByte(stack, ';') >= 0 {
			stacks++
		}
	}
	return stacks > 0 && 2*stacks >= lines
}

// foldedLine takes a line apart.
func foldedLine(line []byte) (stack []byte, value float64, ok bool) {
	i := bytes.LastIndexByte(line, ' ')
	if i <= 0 || i+1 == len(line) || !isDigit(line[i+1]) {
		return nil, 0, false
	}
	value, err := strconv.ParseFloat(string(line[i+1:]), 64)
	if err != nil || math.IsInf(value, 0) || value >= 1<<53 {
		return nil, 0, false
	}
	return line[:i], value, true
}

// folding makes samples of folded lines.
type folding struct {
	*tally
	at          int64
	byName      map[string]int32
	stack       []int32
	read, noise uint64
	scale       float64 // what a value is multiplied by to count: 1000 where values have fractions, 0 for 1
	carry       float64 // what was not counted so far, less than one
}

// inThousandths reports whether values have fractions, as times and percentages do.
func inThousandths(head []byte) bool {
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		head = rest
		if _, value, ok := foldedLine(bytes.TrimRight(line, "\r")); ok && value != math.Trunc(value) {
			return true
		}
	}
	return false
}

func (f *folding) line(b []byte, whole bool) {
	f.read++
	if b = bytes.TrimRight(b, "\r"); len(b) == 0 || b[0] == '#' {
		return
	}
	frames, value, ok := foldedLine(b)
	if !ok || !whole {
		f.noise++
		return
	}
	first, rest, _ := bytes.Cut(frames, []byte(";"))
	count := value*max(f.scale, 1) + f.carry
	f.carry = count - math.Floor(count)
	s := sample{at: f.at, event: f.eventOf([]byte(foldedEvent)), weight: 0, n: uint64(count)}
	if s.n == 0 {
		return
	}
	s.comm, s.pid, s.tid = f.owner(first)
	f.stack = f.stack[:0]
	for len(rest) > 0 {
		i := bytes.LastIndexByte(rest, ';')
		name := rest[i+1:]
		rest = rest[:max(i, 0)]
		id, ok := f.byName[string(name)]
		if !ok {
			id = f.id(foldedFrame(string(name)))
			if len(f.byName) < mostNames && len(name) <= mostName {
				f.byName[string(name)] = id
			}
		}
		f.stack = append(f.stack, id)
	}
	f.add(s, f.stack)
}

// take takes the lines of a piece.
func (f *folding) take(c reader.Chunk) {
	for b := c.Data; len(b) > 0; {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		f.line(line, whole || !c.Cut || c.Skipped == 0 && c.Last)
		b = rest
	}
}

// mostNames of so many bytes at most are known again at once.
const mostNames, mostName = 1 << 15, 256

// foldedEvent is what folded stacks are of where nothing says it.
const foldedEvent = "samples"

// owner reads the first frame: "java", "java-812", "java-812/815" (stackcollapse
// --pid, --tid), "java[812]" (snag's own).
func (f *folding) owner(b []byte) (comm commID, pid, tid int) {
	name := b
	if i := bytes.LastIndexByte(b, '['); i > 0 && b[len(b)-1] == ']' {
		if n, ok := process(b[i+1 : len(b)-1]); ok {
			return f.comm(b[:i]), n, n
		}
	}
	if i := bytes.LastIndexByte(b, '-'); i > 0 {
		first, second, both := bytes.Cut(b[i+1:], []byte("/"))
		n, ok := process(first)
		m, ok2 := n, true
		if both {
			m, ok2 = process(second)
		} else if len(first) < 2 && n < 2 { // a name with a number: "worker-1"
			ok = false
		}
		if ok && ok2 {
			return f.comm(b[:i]), n, m
		}
	}
	return f.comm(name), 0, 0
}

// foldedFrame takes the suffix off.
func foldedFrame(name string) frame {
	switch {
	case strings.HasSuffix(name, "_[k]"):
		return makeFrame(strings.TrimSuffix(name, "_[k]"), "", true)
	case strings.HasSuffix(name, "_[j]"):
		return makeFrame(strings.TrimSuffix(name, "_[j]"), "[jit]", false)
	}
	f := makeFrame(strings.TrimSuffix(name, "_[i]"), "", false)
	// "[libc.so.6]" stands for its nameless functions (stackcollapse-perf.pl).
	f.named = f.named && !strings.HasPrefix(f.function, "[") && !strings.Contains(f.function, "+0x")
	return f
}

func readFoldedInto(ctx context.Context, in *reader.Input, o reader.Options, out recording.Sink) (reader.Told, error) {
	f := &folding{tally: newTally(out), at: o.Modified.UnixNano(), byName: map[string]int32{}, scale: 1}
	why := "folded stacks have no times: all are put at the file's last change; what was counted they do not say either: it is taken for time on the CPU"
	if inThousandths(in.Head()) {
		f.scale = 1000
		why += "; their values have fractions, and are counted in thousandths"
	}
	err := reader.EachChunk(ctx, in, func(c reader.Chunk) reader.Chunk { return c }, func(c reader.Chunk) error {
		f.take(c)
		return nil
	})
	f.end()
	told := f.told("folded stacks", placed{why: why})
	told.Lines, told.Foreign = f.read, f.noise
	if f.noise > 0 {
		told.Coverage[0].Lost += f.noise
		partial(&told.Coverage[0], "%d of %d lines are not folded stacks", f.noise, f.read)
	}
	return told, err
}
