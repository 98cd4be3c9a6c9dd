package strace

import (
	"maps"
	"slices"
	"time"

	"snag/recording"
	"snag/recording/calltable"
)

// mostQuiet seconds of a gap are written one by one, for the calls that go on in
// them; over it the clock is taken to have jumped.
const mostQuiet = 3600

// turn ends the second that is counted, and those up to at.
func (t *Trace) turn(at int64) {
	if t.second == 0 {
		t.second = at - at%t.o.Second
		return
	}
	for n := 0; at >= t.second+t.o.Second; n++ {
		if n > mostQuiet || len(t.later) == 0 && t.noneOpen() && n > 0 {
			t.jump(at)
			return
		}
		t.flush(t.second + t.o.Second)
		t.second += t.o.Second
		t.resumeSpans()
	}
}

func (t *Trace) noneOpen() bool {
	for _, th := range t.threads {
		if th.open != nil {
			return false
		}
	}
	return true
}

// jump goes to a time with nothing in between.
func (t *Trace) jump(at int64) {
	t.second = at - at%t.o.Second
	t.tellHeld()
	t.later = t.later[:0]
	for _, th := range t.threads {
		if th.open != nil {
			th.open.from = t.second
		}
	}
}

// flush writes the present second, which ends at end.
func (t *Trace) flush(end int64) {
	for _, th := range t.threads {
		if th.open != nil {
			t.addOpen(th, end)
		}
	}
	t.tellFDs()
	t.locks.flush(t, end)
	t.flushTurns(end)
	t.flushFailures()
	t.flushWaits()
	t.look(end)
	table := t.early
	if t.early = nil; table == nil {
		table = calltable.Table{}
	}
	fold := t.folding()
	for _, tid := range slices.Sorted(maps.Keys(t.threads)) { // what is added up in another order differs in its last digit
		th := t.threads[tid]
		idle := th.cells.used == 0
		if fold.take(t, th, table); idle && len(t.threads) > mostBusy {
			t.spare(th)
		}
	}
	t.takeLeft(fold, table)
	summed := t.sums.tell(t, table)
	rows, folded := table.Coarser(t.most())
	t.folded += folded + summed
	t.rows += len(rows)
	t.tellHeld()
	t.held = rows
}

// tellHeld writes the rows of calls that wait for the second after theirs.
func (t *Trace) tellHeld() {
	for _, row := range t.held {
		t.out.Append(*row)
	}
	t.held = nil
}

// takeBack takes over, ns, from what a call has in the second before. When that second
// was counted the call seemed to go on: strace writes the line of its end later than
// the end, on a busy machine by milliseconds. A row of several calls taken together
// keeps it.
func (t *Trace) takeBack(th *thread, call string, fd int32, over int64) {
	for _, row := range t.held {
		if row.TID == th.tid && row.FD == int(fd) && row.Call == call {
			row.Sum = max(row.Sum-float64(over)/1e9, 0)
			return
		}
	}
}

// mostBusy threads keep their cells while they do nothing.
const mostBusy = 1024

// most rows of the present second: a recording of an hour must not be larger than
// the trace.
func (t *Trace) most() int {
	switch {
	case t.o.Rows > 0:
		return t.o.Rows
	case t.rows < 10_000:
		return 512
	case t.rows < 30_000:
		return 64
	}
	return 24
}

// resumeSpans adds to the second that begins what calls that began before it
// have in it.
func (t *Trace) resumeSpans() {
	spans := t.later
	t.later = t.later[len(t.later):]
	for _, s := range spans {
		t.spread(s.th, s.call, s.fd, max(s.begin, t.second), s.end, s.args)
	}
}

// End writes what is left.
func (t *Trace) End() Counts {
	if t.Counts.Calls == 0 && t.Counts.First == 0 && len(t.table) > 0 {
		t.totals()
		return t.Counts
	}
	now := t.clock.now
	if t.second != 0 {
		for n := 0; n < mostQuiet && len(t.later) > 0 && t.later[0].end > t.second+t.o.Second; n++ {
			t.turn(t.second + t.o.Second)
		}
	}
	for _, th := range t.threads {
		if th.open == nil {
			continue
		}
		t.Counts.Unfinished++
		if now-th.open.begin >= longCall && t.calls.class[th.open.call]&(waits|locking) == 0 {
			t.blocked(th, th.open.call, th.open.fd, th.open.begin, 0)
		}
	}
	t.flush(max(now, t.second))
	t.tellHeld()
	t.lookAtLogs(max(now, t.second), true)
	t.tellFound()
	for _, d := range t.looks.shown {
		t.closed(d, now)
	}
	t.Counts.Style, t.Counts.Last = t.clock.style, recording.Time(now)
	return t.Counts
}

// longCall is how long a call sits before it is told by itself.
const longCall = int64(time.Second)

// blocked tells of a call of a second and more; end 0: it went on.
func (t *Trace) blocked(th *thread, id uint16, fd int32, begin, end int64) {
	e := recording.Event{
		T: recording.Time(begin), End: recording.Time(end), Kind: recording.EventBlocked,
		Subject: recording.Subject{Kind: recording.KindThread, PID: th.proc.pid, TID: th.tid, Comm: th.comm()},
		Attrs:   map[string]string{"call": t.calls.names[id], "begun": "seen"},
	}
	if end != 0 {
		e.Value, e.Unit = float64(end-begin)/1e9, "seconds"
	}
	if fd >= 0 {
		e.Attrs["fd"] = itoa(int(fd))
		if d := th.proc.fds.get(fd); d != nil && d.row.Text() != "" {
			e.Attrs["name"] = d.text()
		}
	}
	if t.events++; t.events <= mostEvents {
		t.out.Append(e)
	}
}

// mostEvents of a trace are kept; further ones are counted.
const mostEvents = 20_000

// signal tells of the signals that say something of a connection or a stop.
func (t *Trace) signal(th *thread, l *Line, at int64) {
	switch string(l.Name) {
	case "SIGPIPE", "SIGSTOP", "SIGCONT":
	default:
		return
	}
	if t.events++; t.events > mostEvents {
		return
	}
	t.out.Append(recording.Event{
		T: recording.Time(at), End: recording.Time(at), Kind: recording.EventSignal,
		Subject: recording.Subject{Kind: recording.KindProcess, PID: th.proc.pid, Comm: th.comm()},
		Attrs:   map[string]string{"signal": string(l.Name)},
	})
}
