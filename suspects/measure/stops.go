package measure

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
)

// Stops is when and by whom a process was stopped.
type Stops struct {
	Process  *scene.Process
	Spans    []recording.Interval
	Seen     int  // samples in state T
	Told     bool // the probe that follows states wrote a stop of two samples and more
	Debugger bool
	Ran      float64 // CPU time used between two samples that both found it stopped, s
	Signals  int
	Signal   string
	From     string
	senderID int

	exact []recording.Interval // stops by SIGSTOP, from signal to signal
	went  []recording.Time     // when it got SIGCONT
}

// longStop: shorter ones are what a debugger's attach or a job control makes, and
// no shorter than the samples are apart.
const longStop = time.Second

// shortStop: what an attached debugger or a checkpoint takes is shorter.
const shortStop = 200 * time.Millisecond

// briefStop is as long as people notice of an answer; several of them are no attach of a debugger.
const (
	briefStop    = 50 * time.Millisecond
	severalBrief = 3
)

// StopsOf gathers what states, events and signals say of one process.
func StopsOf(p *scene.Process, r *recording.Recording, window recording.Interval) Stops {
	st := Stops{Process: p}
	var rows []stateSample
	for _, row := range p.Rows {
		rows = append(rows, stateSample{row.T, row.State, row.CPU})
	}
	traced := st.addSamples(rows)
	for _, t := range p.Threads {
		if t.Subject.TID == p.Subject.PID { // the leader's state is the process' own
			rows = nil
			for _, row := range t.Rows {
				rows = append(rows, stateSample{row.T, row.State, row.OnCPU})
			}
			traced += st.addSamples(rows)
		}
	}
	st.Debugger = traced > 0 && 2*traced > st.Seen
	st.addEvents(r, window)
	long := st.again()
	for _, i := range intervals.Merge(st.untilContinued(), 0) {
		if i.Start < window.Start {
			i.Start = window.Start
		}
		if i.Length(window.End) >= longStop {
			long = append(long, i)
		}
	}
	st.Spans = intervals.Merge(long, 0)
	return st
}

// untilContinued returns the stops, each ended at the SIGCONT that ended it: a sample shows that the
// process runs up to a second later.
func (st *Stops) untilContinued() (out []recording.Interval) {
	for _, i := range st.Spans {
		for _, at := range st.went {
			if i.Start < at && at < i.End && !slices.ContainsFunc(st.exact, func(e recording.Interval) bool { return at < e.Start && e.Start < i.End }) {
				i.End = at
			}
		}
		out = append(out, i)
	}
	return out
}

// again are short stops that are known to the microsecond, where they come again and again:
// together they are long, or there are several that requests may have met.
func (st *Stops) again() []recording.Interval {
	atLeast := func(length time.Duration) (out []recording.Interval) {
		for _, i := range st.exact {
			if i.End.Sub(i.Start) >= length {
				out = append(out, i)
			}
		}
		return out
	}
	if long := atLeast(shortStop); len(long) >= 2 && intervals.Seconds(long, 0) >= longStop.Seconds() {
		return long
	}
	if brief := atLeast(briefStop); len(brief) >= severalBrief {
		return brief
	}
	return nil
}

// stateSample is one look at a process: its state, and the CPU time used so far.
type stateSample struct {
	t     recording.Time
	state string
	cpu   float64
}

// ranFor is the CPU time from which a process ran between two samples: a tick of
// utime and stime (/proc/PID/stat counts 10 ms).
const ranFor = 0.01

// addSamples takes the states that one source saw, by time: stopped from one
// sample to the next if both say so and no CPU time was used between them. It
// returns how many were a debugger's.
func (st *Stops) addSamples(rows []stateSample) (traced int) {
	for i, m := range rows {
		if m.state != "T" && m.state != "t" {
			continue
		}
		st.Seen++
		if m.state == "t" {
			traced++
		}
		span := recording.Interval{Start: m.t, End: m.t} // alone it is an instant
		if i+1 < len(rows) && (rows[i+1].state == "T" || rows[i+1].state == "t") {
			if used := rows[i+1].cpu - m.cpu; used >= ranFor {
				st.Ran += used
			} else {
				span.End = rows[i+1].t
			}
		}
		st.Spans = append(st.Spans, span)
	}
	return traced
}

// addEvents joins the stops that the host probe followed and the signals that the
// kernel told: those have exact times, from SIGSTOP to SIGCONT.
func (st *Stops) addEvents(r *recording.Recording, window recording.Interval) {
	pid := st.Process.Subject.PID
	var stopped, went recording.Time
	sure := false // nobody can handle or ignore SIGSTOP
	for _, e := range r.Events {
		if e.Subject.PID != pid {
			continue
		}
		switch name := e.Attrs["signal"]; {
		case e.Kind == recording.EventStopped:
			st.Spans = append(st.Spans, e.Interval())
			st.Told = st.Told || e.Interval().Length(window.End) >= longStop
		case e.Kind == recording.EventSignal && recording.StopSignals[name] && e.Attrs["result"] != "ignored":
			st.Signals += int(max(1, e.Value))
			st.Signal = name
			if id, err := strconv.Atoi(e.Attrs["from_pid"]); err == nil && id > 0 {
				st.senderID = id
				st.From = fmt.Sprintf("%s[%d]", cmp.Or(e.Attrs["from_comm"], "?"), id)
			}
			if stopped == 0 {
				stopped, sure = e.T, false
			}
			sure = sure || name == "SIGSTOP" && e.Attrs["result"] == "delivered"
		case e.Kind == recording.EventSignal && name == "SIGCONT":
			// Between two samples a stop may be seen by its signals alone; of those that a
			// program may handle, state T must have been seen at least once. One whose begin
			// nobody saw lasted from the first look that found it so, at the least.
			if seen := st.seenIn(recording.Interval{Start: went, End: e.T}); stopped == 0 && seen != 0 {
				st.exact = append(st.exact, recording.Interval{Start: seen, End: e.T})
			} else if stopped != 0 && (sure || st.confirmedIn(recording.Interval{Start: stopped, End: e.T})) {
				st.Spans = append(st.Spans, recording.Interval{Start: stopped, End: e.T})
				if sure {
					st.exact = append(st.exact, recording.Interval{Start: stopped, End: e.T})
				}
			}
			stopped, went = 0, e.T
			st.went = append(st.went, e.T)
		}
	}
	if open := (recording.Interval{Start: stopped}); stopped != 0 && (sure || st.confirmedIn(open)) {
		st.Spans = append(st.Spans, open)
	}
}

// confirmedIn reports whether state T was seen in the interval.
func (st *Stops) confirmedIn(i recording.Interval) bool { return st.seenIn(i) != 0 }

// seenIn is when state T was first seen in the interval; 0: never.
func (st *Stops) seenIn(i recording.Interval) (first recording.Time) {
	for _, s := range st.Spans {
		if i.Covers(s.Start) && (first == 0 || s.Start < first) {
			first = s.Start
		}
	}
	return first
}

// Senders are the processes that stopped it, as far as they are known.
func (st *Stops) Senders(s *scene.Scene) []recording.Subject {
	if st.senderID == 0 || st.senderID == st.Process.Subject.PID {
		return nil
	}
	if p := s.Process(st.senderID); p != nil {
		return []recording.Subject{p.Subject}
	}
	return []recording.Subject{{Kind: recording.KindProcess, PID: st.senderID}}
}

// Sufferers are the sockets at which data or connections waited while it was
// stopped, or whose steady stream stood still; with the worst in words.
func (st *Stops) Sufferers(s *scene.Scene) (out []*scene.Socket, worst string) {
	most := -1
	for _, k := range st.Process.Sockets {
		n, rows, q := WaitingIn(k, st.Spans)
		peer := 0
		if k.Peer != nil {
			for _, row := range k.Peer.Rows {
				if intervals.Cover(st.Spans, row.T) {
					peer = max(peer, row.SendQ)
				}
			}
		}
		text := ""
		switch {
		case rows > 0 && 2*n >= rows && k.Listening():
			text = fmt.Sprintf("%s connections waited on %s", units.Count(float64(q)), k.First().Local)
		case rows > 0 && 2*n >= rows:
			text = fmt.Sprintf("up to %s waited to be read on %s", units.Bytes(float64(q)), k.First().Local)
			if k.First().Remote != "" {
				text += " from " + k.First().Remote
			}
		case peer > 0 && n > 0:
			text = fmt.Sprintf("%s waited to be sent to it by %s", units.Bytes(float64(peer)), k.First().Remote)
		case stoodStill(k, st.Spans, s.Window):
			text = fmt.Sprintf("its stream with %s stopped", k.First().Remote)
			q = 0
		default:
			continue
		}
		out = append(out, k)
		if q > most {
			most, worst = q, text
		}
	}
	return out, worst
}

// stoodStill: bytes moved at a steady rate outside of the intervals and none
// inside.
func stoodStill(k *scene.Socket, spans []recording.Interval, window recording.Interval) bool {
	if k.First().Proto != "tcp" || k.Listening() || k.Last().TCP == nil {
		return false
	}
	if quiet, moved := quietIn(k, spans); quiet >= 1 {
		all := MovedBytes(k.Last()) - MovedBytes(k.First())
		outside := intervals.Seconds(intervals.Rest(spans, recording.Interval{Start: k.First().T, End: k.Last().T}), 0)
		return !moved && outside >= 2 && all/outside*quiet >= steadyBytes
	}
	got, seconds := MovedIn(k, spans, window.End, MovedBytes)
	free, outside := MovedIn(k, intervals.Rest(spans, window), window.End, MovedBytes)
	return seconds >= 1 && got == 0 && outside >= 2 && free/outside*seconds >= steadyBytes
}

// steadyBytes of a second's worth of steady traffic at least must be missing.
const steadyBytes = 1000

// readOften: there are rows of two of three seconds outside of the intervals. So one of a second in which it changed
// is not left out for want of room, and where there is none nothing moved and nothing waited.
func readOften(k *scene.Socket, spans []recording.Interval) bool {
	rows, outside := 0, intervals.Seconds(intervals.Rest(spans, recording.Interval{Start: k.First().T, End: k.Last().T}), 0)
	for _, row := range k.Rows {
		if !intervals.Cover(spans, row.T) {
			rows++
		}
	}
	return outside >= 2 && float64(rows) >= outside*2/3
}

// quietIn is for how long nothing moved on a connection since intervals began, s, by the kernel's
// own word at the last row in each: rows are a second apart, and the first in an interval has what
// moved before. It tells too whether something moved in any.
func quietIn(k *scene.Socket, spans []recording.Interval) (quiet float64, moved bool) {
	often := readOften(k, spans)
	for _, i := range spans {
		last := RowAt(k, cmp.Or(i.End, k.Last().T))
		if last != nil && last.T <= i.Start && often && i.End != 0 && i.End < k.Last().T {
			quiet += max(0, i.End.Sub(i.Start)-time.Second).Seconds() // it was read once a second, and had not changed
			continue
		}
		if last == nil || last.TCP == nil || last.T <= i.Start {
			continue
		}
		ago := time.Duration(min(last.TCP.LastSnd, last.TCP.LastRcv) * 1e9)
		before := RowAt(k, i.Start.Add(Jitter))
		switch {
		case last.T.Add(-ago) <= i.Start.Add(Jitter):
			quiet += last.T.Sub(i.Start).Seconds()
		case before == nil || before.TCP == nil || MovedBytes(*last) > MovedBytes(*before):
			moved = true
		}
	}
	return quiet, moved
}
