package runtime

import (
	"strconv"
	"strings"
	"time"

	"snag/internal/sorting"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
)

// heapUse is how a JVM's heap was used while its collectors worked much: by its counters,
// else by its own log.
type heapUse struct {
	process            *scene.Process
	source, heapSource source.Source
	active             []recording.Interval
	took               float64 // s of active in which they worked
	collections, full  int
	after, most        float64 // bytes in use after collections, and that it may have
	causes             map[string]int
	logged             loggedHeap
}

// heapLook is what is known of a JVM's heap in one span.
type heapLook struct {
	recording.Interval
	took    float64
	n, full int
	used    float64 // bytes at its end; 0 not known
}

// heapOf finds the time in which a JVM's collectors worked much; nil where they did not, or
// where its heap had room.
func heapOf(p *scene.Process, s *scene.Scene, r *recording.Recording) *heapUse {
	pid := strconv.Itoa(p.Subject.PID)
	h := &heapUse{process: p, source: source.Of("sun.gc.collector (jcmd PID PerfCounter.print)", source.Collections), heapSource: source.Of("sun.gc.generation (jcmd PID PerfCounter.print)", source.HeapUsed), causes: map[string]int{}}
	fromLog := h.readLog(s, r)
	looks := heapCounted(r, pid)
	for _, m := range r.Select("snag_jvm_heap_max_bytes", "pid", pid) {
		h.most, _ = m.Last()
	}
	if len(looks) == 0 || h.most == 0 {
		looks, h.most = fromLog, h.logged.most
		h.source, h.heapSource = source.File("its own log: -Xlog:gc", source.GCPauses), source.File("its own log: -Xlog:gc", source.GCPauses)
	}
	// G1 counts the heap for both generations, and some bytes more.
	if asked, ok := heapAsked(r, pid); ok {
		h.most = min(h.most, asked)
	}
	if h.most <= 0 || !h.sum(looks, s.Window.End) {
		return nil
	}
	if h.after >= brimful*h.most || h.full >= 2 && h.after >= fullHeap*h.most {
		return h
	}
	return nil
}

// sum takes the spans in which collecting took much, and what was left after it; false where
// there are none.
func (h *heapUse) sum(looks []heapLook, end recording.Time) bool {
	var busy []recording.Interval
	for _, l := range looks {
		if l.took >= collectsMuch*l.Length(end).Seconds() {
			busy = append(busy, l.Interval)
		}
	}
	for _, i := range intervals.Merge(busy, 2*time.Second) {
		if i.Length(end).Seconds() >= collectsFor {
			h.active = append(h.active, i)
		}
	}
	for _, l := range looks {
		if !intervals.Cover(h.active, l.Start.Add(l.Length(end)/2)) {
			continue
		}
		h.took += min(l.took, l.Length(end).Seconds())
		h.n(l)
	}
	return h.after > 0 && h.took >= collectsMuch*intervals.Seconds(h.active, end)
}

// n counts a span's collections. What was in use before the first full one of them may be
// garbage, or a heap that fills.
func (h *heapUse) n(l heapLook) {
	if h.full == 0 && l.full > 0 {
		h.after = 0
	}
	h.collections += l.n
	h.full += l.full
	if l.used > 0 && (h.after == 0 || l.used < h.after) {
		h.after = l.used
	}
}

// heapCounted is what a JVM counted, by the second.
func heapCounted(r *recording.Recording, pid string) []heapLook {
	at := map[recording.Time]*heapLook{}
	add := func(name string, to func(l *heapLook, grown float64, collector string)) {
		for _, series := range r.Select(name, "pid", pid) {
			for i, grown := range series.Steps() {
				if at[grown.T] == nil {
					at[grown.T] = &heapLook{Interval: recording.Interval{Start: series.Points[i].T, End: grown.T}}
				}
				to(at[grown.T], max(0, grown.V), series.Labels["collector"])
			}
		}
	}
	add("snag_jvm_gc_seconds_total", func(l *heapLook, grown float64, _ string) { l.took += grown })
	add("snag_jvm_gc_invocations_total", func(l *heapLook, grown float64, collector string) {
		l.n += int(grown)
		if collectsAll(collector) {
			l.full += int(grown)
		}
	})
	for _, series := range r.Select("snag_jvm_heap_used_bytes", "pid", pid) {
		for _, p := range series.Points {
			if l := at[p.T]; l != nil {
				l.used = p.V
			}
		}
	}
	return inOrder(at)
}

func inOrder(at map[recording.Time]*heapLook) []heapLook {
	var out []heapLook
	for _, l := range at {
		out = append(out, *l)
	}
	sorting.By(out, func(a, b heapLook) int { return int(a.Start.Sub(b.Start)) })
	return out
}

// collectsAll tells a collector of the whole heap by its name in the counters: "G1 full
// collection pauses", and those of JDK 8.
func collectsAll(collector string) bool {
	return strings.Contains(collector, "full") || collector == "MSC" || collector == "PSMarkSweep" || collector == "PSParallelCompact"
}

// heapAsked is the -Xmx of a JVM's arguments, bytes: the last one holds.
func heapAsked(r *recording.Recording, pid string) (bytes float64, ok bool) {
	flags, _ := r.FactOf("jvm."+pid+".flags", 0)
	for _, flag := range strings.Fields(flags) {
		text, is := strings.CutPrefix(flag, "-Xmx")
		if !is || text == "" {
			continue
		}
		unit, known := map[byte]float64{'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30, 't': 1 << 40}[text[len(text)-1]|0x20]
		if known {
			text = text[:len(text)-1]
		} else {
			unit = 1
		}
		if n, err := strconv.ParseUint(text, 10, 63); err == nil && n > 0 {
			bytes, ok = float64(n)*unit, true
		}
	}
	return bytes, ok
}

// loggedHeap is what a JVM's own log says of the heap around full collections.
type loggedHeap struct {
	full  int
	freed float64 // share of the heap, on average
	most  float64 // bytes
}

// readLog takes the collections of a JVM's log, by the second, and why the collections were,
// by whoever tells it.
func (h *heapUse) readLog(s *scene.Scene, r *recording.Recording) []heapLook {
	at := map[recording.Time]*heapLook{}
	freed, last := 0.0, recording.Time(0)
	for _, e := range r.Events {
		if e.Kind != recording.EventGCPause || e.Subject.PID != h.process.Subject.PID {
			continue
		}
		if cause := e.Attrs["cause"]; cause != "" {
			h.causes[cause]++
		}
		if e.Attrs["source"] != gcLog || e.T < s.Window.Start || e.T > s.Window.End {
			continue
		}
		second := s.Window.Start.Add(e.T.Sub(s.Window.Start).Truncate(time.Second))
		l := at[second]
		if l == nil {
			l = &heapLook{Interval: measure.OneSecond(second)}
			at[second] = l
		}
		l.n++
		if end := e.Interval().End; end > last { // a young collection that becomes a full one is both
			l.took += end.Sub(max(e.T, last)).Seconds()
			last = end
		}
		before, after, most := attrBytes(e, "heap_before"), attrBytes(e, "heap_after"), attrBytes(e, "heap")
		if after > 0 {
			l.used = after
		}
		h.logged.most = max(h.logged.most, most)
		if pause := e.Attrs["pause"]; strings.Contains(pause, "Full") {
			l.full++
			if after > 0 && most > 0 {
				h.logged.full++
				freed += (before - after) / most
			}
		}
	}
	if h.logged.full > 0 {
		h.logged.freed = freed / float64(h.logged.full)
	}
	return inOrder(at)
}

func attrBytes(e recording.Event, key string) float64 {
	v, _ := strconv.ParseFloat(e.Attrs[key], 64)
	return v
}
