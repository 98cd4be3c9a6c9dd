package runtime

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
)

// standstill is what a JVM's own counters, its static probes and its log say of one
// process.
type standstill struct {
	process *scene.Process
	least   float64              // s; shorter pauses do not count
	counted bool                 // its counters were read
	stopped measure.Steps        // safepoint time by second, s
	sync    float64              // of it, until the last thread had stopped
	pauses  []recording.Interval // each as exact as it is known, and once whoever told it
	timed   timedStops           // by the static probes of libjvm
	logged  timedStops           // by its log
	stalls  allocStalls
	exact   int                // of them, collections with exact times
	longest float64            // s
	total   float64            // s in pauses that are felt
	causes  map[string]float64 // s by cause
	gc      map[string]float64 // seconds by collector
	stops   []recording.Interval
}

// feltPause is the least time in a second that a JVM stands still and somebody may
// feel it: a healthy heap takes 5 to 50 ms for a collection, and healthy streams
// show gaps of 0.1 to 0.35 s on a busy machine.
const feltPause = scene.LongStop

// bookedPause is the least pause that counts where its pauses are what answers were seen to
// wait for: many short ones make late answers as well as a few long ones.
const bookedPause = 0.01

// feltPauseOf is the least pause of a process that counts, s. Of a JVM of which only its log is
// known, those count that make its symptom (scene/stopped.go).
func feltPauseOf(p *scene.Process, s *scene.Scene, r *recording.Recording, l *ledger.Ledger) float64 {
	if _, looked := r.Measured("sockets.diag"); !looked && len(p.Sockets) == 0 {
		for _, sym := range s.Symptoms {
			if sym.Inferred && sym.Subject.PID == p.Subject.PID && slices.ContainsFunc(sym.Active, func(i recording.Interval) bool { return i.Length(s.Window.End).Seconds() < feltPause }) {
				return 0
			}
		}
	}
	if l.Booked(p.Subject.PID, ledger.Pause) >= 0.2 {
		return bookedPause
	}
	return feltPause
}

// standstillOf reads what a JVM counted, or logged; nil where neither was measured. Pauses
// shorter than least do not count.
func standstillOf(p *scene.Process, r *recording.Recording, window recording.Interval, least float64) *standstill {
	pid := strconv.Itoa(p.Subject.PID)
	j := &standstill{process: p, least: least, timed: timedStops{least: least}, logged: timedStops{least: least}, causes: map[string]float64{}, gc: map[string]float64{}}
	if series := r.Select("snag_jvm_safepoint_seconds_total", "pid", pid); len(series) > 0 && len(series[0].Points) >= 2 {
		j.counted, j.stopped = true, measure.StepsOf(series[0])
	} else if _, logs := r.FactOf("jvm."+pid+".gc-log", 0); !logs {
		return nil
	}
	for _, s := range r.Select("snag_jvm_safepoint_sync_seconds_total", "pid", pid) {
		j.sync, _ = s.Increase()
		j.stopped = withSync(j.stopped, measure.StepsOf(s))
	}
	for _, s := range r.Select("snag_jvm_gc_seconds_total", "pid", pid) {
		// A collector that took longer than all stood still works beside the program.
		if n, ok := s.Increase(); ok && n > 0 && n <= 1.2*j.stopped.Sum() {
			j.gc[s.Labels["collector"]] = n
		}
	}
	j.stops = measure.StopsOf(p, r, window).Spans
	j.addPauses(r, window)
	j.addStalls(r, window)
	return j
}

// withSync adds the time that passed until the last thread had stopped, in which the
// others stand already. Up to Java 12 or so the safepoint's time has it in it; where
// it is the longer of the two it can't have (runtimeService.cpp).
func withSync(stopped, sync measure.Steps) measure.Steps {
	out := append(measure.Steps(nil), stopped...)
	for _, s := range sync {
		found := false
		for i := range out {
			if out[i].End == s.End {
				if found = true; s.N > out[i].N {
					out[i].N += s.N
				}
			}
		}
		if !found {
			out = append(out, s)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Start < out[j].Start })
	return out
}

// addPauses takes the stops whose times are exact, and of the seconds in which the JVM
// stood still without one what its counter says: a pause is counted when it is over,
// so it lay before the reading. What a stopped process (SIGSTOP) spent inside a
// safepoint is the stop's. The static probes, the log and the counters tell the same
// stops: each is counted once, by the first of them that tells it.
func (j *standstill) addPauses(r *recording.Recording, window recording.Interval) {
	var all []recording.Interval // felt or not
	for _, of := range []struct {
		kind, source string
		told         *timedStops
	}{
		{recording.EventSafepoint, "", &j.timed}, {recording.EventSafepoint, gcLog, &j.logged},
		{recording.EventGCPause, gcLog, nil}, {recording.EventGCPause, "", nil},
	} {
		known := intervals.Merge(j.pauses, 0)
		for k := range r.Events {
			e := &r.Events[k]
			if e.Kind != of.kind || e.Subject.PID != j.process.Subject.PID || e.Attrs["source"] != of.source {
				continue
			}
			i := e.Interval()
			all = append(all, i)
			length := i.Length(window.End).Seconds()
			if length < j.least || j.outside(i, window) {
				continue
			}
			if of.told != nil {
				of.told.add(*e, length)
			} else {
				j.collected(*e, length)
			}
			if intervals.Overlap(intervals.Near(known, i), []recording.Interval{i}, window.End).Seconds() >= 0.5*length {
				continue
			}
			j.pauses = append(j.pauses, i)
			j.exact++
			j.longest = max(j.longest, length)
		}
		j.pauses = intervals.Merge(j.pauses, 0) // the log's pauses lie inside one another
	}
	j.total = intervals.Seconds(j.pauses, window.End)
	j.addUntimed(intervals.Merge(all, 0), window)
}

// collected notes why a collection was, and by which collector.
func (j *standstill) collected(e recording.Event, length float64) {
	if cause := e.Attrs["cause"]; cause != "" {
		j.causes[cause] += length
	}
	if e.Attrs["source"] != gcLog {
		return
	}
	j.logged.collections++
	if what := strings.TrimSpace(e.Attrs["collector"] + " " + e.Attrs["pause"]); what != "" {
		j.logged.did(what, length)
	}
}

// addUntimed takes the seconds in which the JVM stood still for longer than the stops
// that are known.
func (j *standstill) addUntimed(known []recording.Interval, window recording.Interval) {
	for _, s := range j.stopped {
		span := s.Interval
		if begun := span.End.Add(-measure.Duration(s.N)); begun < span.Start {
			span.Start = begun
		}
		inGC := intervals.Overlap(known, []recording.Interval{span}, window.End).Seconds()
		if s.N >= j.least && s.N-inGC >= j.least && !j.outside(span, window) {
			j.pauses = append(j.pauses, span)
			j.longest = max(j.longest, s.N-inGC)
			j.total += s.N - inGC
		}
	}
	sort.Slice(j.pauses, func(a, b int) bool { return j.pauses[a].Start < j.pauses[b].Start })
}

// outside reports whether a pause lies outside of the window, or in a time in which
// the whole process was stopped from without.
func (j *standstill) outside(i, window recording.Interval) bool {
	if i.End != 0 && i.End <= window.Start || i.Start >= window.End {
		return true
	}
	return intervals.Overlap(j.stops, []recording.Interval{i}, window.End).Seconds() >= 0.5*i.Length(window.End).Seconds()
}

// cause is the reason that most of the time of its collections had, in the JVM's words.
func (j *standstill) cause() string { return mostOften(j.causes) }

// askedBy reports who asked for a collection that the heap did not need; "" where the
// heap did (gcCause.cpp has the names).
func askedBy(cause string) string {
	switch {
	case strings.HasPrefix(cause, "System.gc"):
		return "the program itself (System.gc())"
	case cause == "Diagnostic Command", strings.HasPrefix(cause, "Heap Inspection"), strings.HasPrefix(cause, "Heap Dump"):
		return "an operator or a tool (jcmd, jmap: " + cause + ")"
	case strings.HasPrefix(cause, "JvmtiEnv"), strings.HasPrefix(cause, "WhiteBox"):
		return "an agent (" + cause + ")"
	}
	return ""
}

// waiting counts the looks at its sockets that found data or connections waiting,
// inside of its pauses and outside of them.
func (j *standstill) waiting(window recording.Interval) (inside, ofInside, outside, ofOutside, most int) {
	type seen struct{ waits bool }
	looks := map[recording.Time]*seen{}
	for _, k := range j.process.Sockets {
		for _, row := range k.Rows {
			if row.Proto == "tcp" && row.State != "ESTABLISHED" && row.State != "LISTEN" {
				continue
			}
			at := row.T / recording.Time(100e6) // the rows of one dump
			if looks[at] == nil {
				looks[at] = &seen{}
			}
			if row.RecvQ > 0 {
				looks[at].waits = true
				most = max(most, row.RecvQ)
			}
		}
	}
	for at, s := range looks {
		t := at*recording.Time(100e6) + recording.Time(50e6)
		if t < window.Start || t > window.End {
			continue
		}
		if intervals.Cover(j.active(), t) {
			ofInside++
			if s.waits {
				inside++
			}
			continue
		}
		if j.stalled(window.End) && (j.stalls.untold().Covers(t) || nearEdge(j.stalls.felt, t)) {
			continue
		}
		ofOutside++
		if s.waits {
			outside++
		}
	}
	return inside, ofInside, outside, ofOutside, most
}

// pool.busyThread counts the looks inside of the pauses at which a thread of the JVM's
// own (the VM Thread, a collector's) was on a CPU while its other threads waited.
func (j *standstill) busyThread() (busy, looks int) {
	for _, l := range measure.LooksAt(j.process) {
		if !intervals.Cover(j.pauses, l.T) {
			continue
		}
		looks++
		for _, row := range l.Rows {
			if (row.State == "R" || row.Syscall == "running") && measure.Collects(row.Comm) {
				busy++
				break
			}
		}
	}
	return busy, looks
}

// meanDelay is what a request that comes at any time waits for on average: half of
// a pause if it falls into one.
func (j *standstill) meanDelay(window recording.Interval) float64 {
	sum := 0.0
	for _, i := range j.active() {
		length := min(i.Length(window.End).Seconds(), max(j.longest, j.stalls.longest))
		sum += length * length / 2
	}
	return sum / max(window.Length(window.End).Seconds(), 1)
}
