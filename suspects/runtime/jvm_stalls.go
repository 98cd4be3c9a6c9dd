package runtime

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// allocStalls are the times in which threads of a JVM waited for the collector to free
// memory, while its pauses stayed short. No counter tells them.
type allocStalls struct {
	n         int
	felt      []recording.Interval            // in which a thread waited for 0.2 s and longer
	threads   map[string][]recording.Interval // by the thread's name
	total     float64                         // s, of all threads
	longest   float64                         // s
	collector string
	pauses    float64 // s in which all threads stood still meanwhile
}

// addStalls takes what its log tells of single threads.
func (j *standstill) addStalls(r *recording.Recording, window recording.Interval) {
	st := &j.stalls
	st.threads = map[string][]recording.Interval{}
	for _, e := range r.Events {
		if e.Subject.PID != j.process.Subject.PID || e.Attrs["source"] != gcLog {
			continue
		}
		i := e.Interval()
		length := i.Length(window.End).Seconds()
		if e.Kind == recording.EventGCPause && !j.outside(i, window) {
			st.pauses += length
		}
		if e.Kind != recording.EventAllocStall || length < feltPause || j.outside(i, window) {
			continue
		}
		st.n++
		st.felt = append(st.felt, i)
		st.total += length
		st.longest = max(st.longest, length)
		if st.collector == "" {
			st.collector = e.Attrs["collector"]
		}
		if name := e.Attrs["thread"]; name != "" {
			st.threads[name] = append(st.threads[name], i)
		}
	}
	st.felt = intervals.Merge(st.felt, 0)
}

// mostOften is the thread that waited most often.
func (st *allocStalls) mostOften() string {
	counts := map[string]int{}
	for name, all := range st.threads {
		counts[name] = len(all)
	}
	return mostOften(counts)
}

// asleep holds the log against /proc: a thread that waits for memory sits in futex, and
// out of its stalls it is elsewhere. A thread's name is cut to 15 bytes there.
func (j *standstill) asleep(r *recording.Recording) (suspect.Evidence, bool) {
	in, ofIn, out, ofOut := 0, 0, 0, 0
	untold, often := j.stalls.untold(), len(j.stalls.threads[j.stalls.mostOften()])
	for _, l := range measure.LooksAt(j.process) {
		for _, row := range l.Rows {
			for name, spans := range j.stalls.threads {
				if 5*len(spans) < often || name[:min(len(name), 15)] != row.Comm {
					continue // one that waited once (a compiler's) sleeps in futex for other reasons
				}
				waits := 0
				if row.Syscall == "futex" {
					waits = 1
				}
				switch {
				case intervals.Cover(spans, row.T):
					in, ofIn = in+waits, ofIn+1
				case !untold.Covers(row.T) && !nearEdge(spans, row.T):
					out, ofOut = out+waits, ofOut+1
				}
			}
		}
	}
	if ofIn == 0 {
		return suspect.Evidence{}, false
	}
	return suspect.Evidence{Side: suspect.For, Grade: min(j.contrasted(r, coincides(in, ofIn, out, ofOut), ofOut), suspect.Strong), Value: float64(in), Unit: "samples", Source: source.CallsOf(j.process.Subject.PID), Origin: "thread states",
		Text: fmt.Sprintf("the threads that its log names sat in futex in %d of %d samples inside of their stalls, and in %d of %d outside", in, ofIn, out, ofOut)}, true
}

// untold is the time after the last stall that ended: one that goes on is logged when
// it ends, so that the log says nothing yet of a time as long as its stalls are.
func (st *allocStalls) untold() recording.Interval {
	if len(st.felt) == 0 {
		return recording.Interval{End: 1}
	}
	end := st.felt[len(st.felt)-1].End
	return recording.Interval{Start: end, End: end.Add(measure.Duration(1.5 * st.longest))}
}

// nearEdge reports whether a look lies so near to a stall's begin or end that the two
// clocks, the log's of 1 ms and the time that a look takes, can't tell in from out.
func nearEdge(spans []recording.Interval, t recording.Time) bool {
	const doubt = 20 * time.Millisecond
	for _, i := range spans {
		if (recording.Interval{Start: i.Start.Add(-doubt), End: i.End.Add(doubt)}).Covers(t) {
			return true
		}
	}
	return false
}

// contrasted is what a coincidence with stalls is worth: where they fill all of the
// time there is hardly any without to hold against it, and it counts only if the
// threads that answered are those that the log names.
func (j *standstill) contrasted(r *recording.Recording, g suspect.Grade, ofOut int) suspect.Grade {
	switch {
	case ofOut >= 2:
		return g
	case j.servedByStalled(r):
		return min(g, suspect.Strong)
	}
	return suspect.Weak
}

// servedByStalled reports whether the threads that read the slow requests are those that
// waited for the collector. The kernel cuts a thread's name to 15 bytes.
func (j *standstill) servedByStalled(r *recording.Recording) bool {
	of, in := 0, 0
	for _, t := range r.Turns {
		if t.PID != j.process.Subject.PID || t.Role != "serve" || t.Max < 0.5*feltPause {
			continue
		}
		of++
		for name := range j.stalls.threads {
			if name[:min(len(name), 15)] == t.Comm {
				in++
				break
			}
		}
	}
	return of >= 3 && 2*in >= of
}

// active is when the JVM stood still, or threads of it waited for its collector.
func (j *standstill) active() []recording.Interval {
	if len(j.stalls.felt) == 0 {
		return j.pauses
	}
	return intervals.Merge(append(slices.Clone(j.pauses), j.stalls.felt...), 0)
}

// stalled reports whether single threads waited for longer than all of them stood still.
func (j *standstill) stalled(end recording.Time) bool {
	return len(j.stalls.felt) > 0 && intervals.Seconds(j.stalls.felt, end) > j.total
}

// finding's words for threads that waited.
func (st *allocStalls) words() string {
	text := fmt.Sprintf("its threads waited for the collector to free memory: %s of 0.2 s and longer in %s, %s at the longest",
		units.Plural(st.n, "allocation stall"), units.Plural(len(st.threads), "thread"), units.Lasting(st.longest))
	if st.collector != "" {
		text += "; the collector is " + st.collector
	}
	return text
}

func (st *allocStalls) evidence() suspect.Evidence {
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: st.total, Unit: "s", Source: source.File("its own log: -Xlog:gc", source.GCPauses), Origin: gcLog,
		Text: fmt.Sprintf("in its own log: %s of 0.2 s and longer (%s), %s in all, most often of %s; in the pauses of the collector it was paused for %s only",
			units.Plural(st.n, "allocation stall"), cmp.Or(st.collector, "?"), units.Lasting(st.total), cmp.Or(st.mostOften(), "?"), units.Lasting(st.pauses))}
}

// unseenStalls reports whether the JVM's collector may have let threads wait without that
// anything told it: it works beside them, and no log was there.
func (j *standstill) unseenStalls(r *recording.Recording) bool {
	pid := strconv.Itoa(j.process.Subject.PID)
	if _, logs := r.FactOf("jvm."+pid+".gc-log", 0); logs {
		return false
	}
	for _, fact := range []string{"flags", "collectors", "gc"} {
		text, _ := r.FactOf("jvm."+pid+"."+fact, 0)
		for _, c := range []string{"UseZGC", "ZGC", "UseShenandoahGC", "Shenandoah"} {
			if strings.Contains(text, c) {
				return true
			}
		}
	}
	return false
}
