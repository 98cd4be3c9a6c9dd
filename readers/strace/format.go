package strace

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"snag/readers/reader"
	"snag/recording"
)

// Format is what snag read needs of it.
var Format = reader.Format{
	Name:  "strace",
	About: "what strace wrote (-o, or its standard error)",
	Sniff: Sniff,
	Read:  readInto,

	ReadSet: readSet,
}

func readInto(ctx context.Context, in *reader.Input, o reader.Options, out recording.Sink) (reader.Told, error) {
	style := styleOf(in.Head())
	t := New(out, Options{PID: o.PID, Begin: beginOf(style, o)})
	err := Read(ctx, in, t)
	c := t.End()
	return reader.Told{First: c.First, Last: c.Last, Lines: c.Lines, Coverage: t.coverage(style)}, err
}

// readSet reads what strace -ff wrote: a file for each thread.
func readSet(ctx context.Context, in []*reader.Input, o []reader.Options, out recording.Sink) (reader.Told, error) {
	style, files := NoTime, make([]One, len(in))
	for i := range in {
		files[i] = One{in[i], o[i].PID}
		if style == NoTime {
			style = styleOf(in[i].Head())
		}
	}
	begin := beginOf(style, o[0])
	t := New(out, Options{Begin: begin})
	err := ReadSet(ctx, files, begin, t)
	c := t.End()
	return reader.Told{First: c.First, Last: c.Last, Lines: c.Lines, Coverage: t.coverage(style)}, err
}

// beginOf is where a trace begins whose lines don't say, Unix ns: of times of day
// the midnight before the file's last change.
func beginOf(style Style, o reader.Options) int64 {
	day := o.Modified.In(o.Zone)
	if style == TimeOfDay {
		return time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, o.Zone).UnixNano()
	}
	return day.UnixNano()
}

// styleOf is how the first line with a time has it.
func styleOf(head []byte) Style {
	var l Line
	for len(head) > 0 {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte("\n"))
		if l.Parse(line); l.Style != NoTime {
			return l.Style
		}
	}
	return NoTime
}

// coverage says what the trace measured.
func (t *Trace) coverage(style Style) []recording.Coverage {
	c := t.Counts
	calls := recording.Coverage{Probe: "syscalls.calls", State: recording.CoverageOK, Since: c.First, Lost: c.Noise + c.Orphans}
	add := func(format string, args ...any) {
		calls.State = recording.CoveragePartial
		if calls.Why != "" {
			calls.Why += "; "
		}
		calls.Why += fmt.Sprintf(format, args...)
	}
	switch style {
	case NoTime:
		add("its lines have no time: nothing can be placed in time (strace -ttt)")
	case Relative:
		add("its times are from line to line (-r): when it began is taken from the file")
	case TimeOfDay:
		add("its times name no day: that of the file's last change is taken")
	}
	if c.Timed < c.Calls {
		if c.Timed*2 < c.Calls {
			add("%d of %d calls have no length (strace -T)", c.Calls-c.Timed, c.Calls)
		}
	}
	if c.Noise > 0 {
		add("%d of %d lines are nothing of strace's, or damaged", c.Noise, c.Lines)
	}
	if c.Orphans > 0 {
		add("%d calls began before the file", c.Orphans)
	}
	if t.folded > 0 {
		add("%d rows were taken together: of threads first, then of descriptors with least time; no call is left out", t.folded)
	}
	if n := t.lostThreads; n > 0 {
		add("lines of %d threads over %d are counted together", n, mostThreads)
	}
	if n := t.clock.back; n > 0 {
		add("%d lines lie before the line above them: the clock was set, or files were put together", n)
	}
	fds := recording.Coverage{Probe: "syscalls.fds", State: recording.CoveragePartial, Since: c.First, Why: "descriptors from before the trace are known where strace -yy tells them"}
	locks := recording.Coverage{Probe: "locks.futex", State: calls.State, Since: c.First, Why: calls.Why}
	return []recording.Coverage{calls, fds, locks}
}
