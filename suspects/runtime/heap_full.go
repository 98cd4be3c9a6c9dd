package runtime

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var heapFull = &suspect.Suspect{
	Name:  "heap-full",
	Title: "a runtime collects garbage again and again: its heap is nearly full",
	About: "What lives in the heap leaves so little room that the next collection comes at once, and frees little again. No single one need be long: many short ones take as much time. " +
		"A heap with room is collected often too where a program makes much garbage: there little is left after each collection.",
	Needs: []suspect.Need{
		{Measure: "jvm.counters", Must: true, Why: "how long a JVM's collectors worked, how often, and how full its heap was"},
		{Measure: "jvm.gc-log", Why: "the heap before and after each collection"},
		{Measure: "threads.state", Why: "how much CPU time the collector's own threads used"},
		{Measure: "oncpu.stacks", Why: "of Node.js: how much of its CPU time was spent in V8's collector"},
		{Measure: "host.processes", Why: "of Node.js: its memory, and the limit on its command line"},
		{Measure: "host.memory", Why: "how much memory the host has for a larger heap"},
	},
	InFiles: map[string][]string{"jvm.counters": {"jvm.gc-log"}},
	For: []string{
		"strong: a JVM's collectors worked for a twentieth of 3 s or more",
		"decisive: and after two full collections or more the heap was 70 % full or more; strong: it was 90 % full all the time",
		"strong: by its own log the full collections freed less than a fifth of the heap",
		"strong: the collector's threads used a third of the CPU time of the process",
		"strong, Node.js: it ended by its own SIGABRT, as V8 does when the heap is full",
		"strong, Node.js: a fifth of its CPU time was V8's mark-compact; decisive: half of it, for V8 lets a heap grow before it comes to that",
		"strong, Node.js: its memory is at its --max-old-space-size",
	},
	Against: []string{
		"decisive: the collections were asked for (System.gc(), jcmd), not needed",
		"trap: many young collections of a heap that is nearly empty after each",
		"trap: a JVM that starts: its heap grows, and full collections make room for classes",
		"can't tell: a heap of ZGC, which has no counters of it; Go: no recording shows its limit (GOMEMLIMIT); what fills the heap",
	},
	LeadsTo: measure.LatencyLeads(suspect.Lead{To: "runtime-pause", Lag: measure.FeltWithin}, suspect.Lead{To: "service-killed", Lag: time.Minute}, suspect.Lead{To: "busy-thread", Lag: measure.FeltWithin}, suspect.Lead{To: "cpu-saturated", Lag: measure.FeltWithin}, suspect.Lead{To: "worker-queue", Lag: measure.FeltWithin},
		suspect.Lead{To: "listen-overflow", Lag: 2 * measure.FeltWithin}, suspect.Lead{To: "peer-reset", Lag: time.Minute}),
	Claims: []ledger.Account{ledger.Pause, ledger.CPU},
	Remedy: suspect.Remedy{
		Permanently: "A larger heap, so that half of it is free after a full collection: set it in the arguments of its unit or start script (-Xmx, --max-old-space-size), and a restart.",
		Program:     "Find what fills the heap, and keep less of it.",
	},
	Verified: "collections of the whole heap stop, or take less than a hundredth of the time",
	Next:     histogram,
	Weigh:    weighHeapFull,
}

const histogram = "jcmd PID GC.class_histogram -all | head -20   # what fills it; jstat -gcutil PID 1000"

const (
	// collectsMuch is the share of the time from which a full heap costs something: HotSpot
	// sizes heaps for 1 % (parallel, GCTimeRatio=99) to 8 % (G1, GCTimeRatio=12). Whether it
	// is felt the ledger tells.
	collectsMuch = 0.05
	// collectsFor is how long it does so at the least: a JVM that starts does for a moment.
	collectsFor = 3.0 // s
	// brimful is the share of the heap in use all the time that leaves no room for young
	// objects, with or without full collections.
	brimful = 0.9
	// freesLittle is the share of the heap that a full collection frees of one without room.
	freesLittle = 0.2
	// collectorsCPU is the share of the process' CPU time that its collector's threads use.
	collectorsCPU = 0.33
)

func weighHeapFull(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, p := range s.Processes {
		if h := heapOf(p, s, r); h != nil {
			out = append(out, h.finding(s, r))
		} else if f, ok := v8Full(s, r, p); ok {
			out = append(out, f)
		}
	}
	return out
}

func (h *heapUse) finding(s *scene.Scene, r *recording.Recording) suspect.Finding {
	pid := h.process.Subject.PID
	f := suspect.Finding{Subject: h.process.Subject, Active: h.active, Next: histogram}
	if !recording.StandsIn(pid) {
		f.Next = strings.ReplaceAll(histogram, "PID", strconv.Itoa(pid))
	}
	span := intervals.Seconds(h.active, s.Window.End)
	f.Text = fmt.Sprintf("its heap is %.0f %% full after collections (%s of %s): %s took %s of %s", 100*h.after/h.most, units.Bytes(h.after), units.Bytes(h.most), units.Plural(h.collections, "collection"), units.Lasting(h.took), units.Lasting(span))
	f.Evidence = []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Value: h.took / span, Unit: "share", Source: h.source, Origin: "collections",
			Text: fmt.Sprintf("%s, %d of them of the whole heap, took %.0f %% of %s", units.Plural(h.collections, "collection"), h.full, 100*h.took/span, units.Lasting(span))},
		{Side: suspect.For, Grade: suspect.Strong, Value: h.after / h.most, Unit: "share", Source: h.heapSource, Origin: "heap",
			Text: fmt.Sprintf("%s of %s stay in use", units.Bytes(h.after), units.Bytes(h.most))},
	}
	if h.full >= 2 {
		f.Evidence[1].Grade = suspect.Decisive
		f.Evidence[1].Text += fmt.Sprintf(", whatever %s of the whole heap freed in that time", units.Plural(h.full, "collection"))
	}
	if n := h.logged; n.full > 0 {
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: n.freed, Unit: "share", Source: source.File("its own log: -Xlog:gc", source.GCPauses), Origin: gcLog,
			Text: fmt.Sprintf("in its own log: %s of the whole heap freed %.0f %% of it on average", units.Plural(n.full, "collection"), 100*n.freed)}
		if n.freed < freesLittle {
			e.Grade = suspect.Strong
		}
		f.Evidence = append(f.Evidence, e)
	}
	if used, all := collectorTime(h.process); all > 0 && used >= collectorsCPU*all {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: used / all, Unit: "share", Source: source.SchedstatOf(pid), Origin: "schedstat",
			Text: fmt.Sprintf("its collector's threads used %s of the %s of CPU time of the process", units.Lasting(used), units.Lasting(all))})
	}
	if by := askedBy(mostOften(h.causes)); by != "" {
		f.Text, f.Evidence[1].Grade = "its collections were asked for by "+by+": it did not need them", suspect.Weak
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Source: source.Of("sun.gc.lastCause (jcmd PID PerfCounter.print)", source.Collections), Origin: "causes", Text: f.Text})
		return f
	}
	what, _, _ := strings.Cut(f.Next, " #")
	f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("-Xmx%dm in the java arguments of %s (its unit or start script) and a restart (now %s)%s.", int(2*h.after)>>20, measure.OrProgram(h.process.Subject.Comm), units.Bytes(h.most), h.room(r)),
		Program: fmt.Sprintf("Keep less in the heap: %s shows what fills it.", strings.TrimSpace(what))}
	return f
}

// room is what stands in the way of a heap of twice what lives in it; "" for nothing that
// was measured.
func (h *heapUse) room(r *recording.Recording) string {
	more := 2*h.after - h.most
	if limit, used := measure.MemoryOf(r, h.process); limit > 0 && used+more > limit {
		return fmt.Sprintf("; its control group may hold %s: raise that first", units.Bytes(limit))
	}
	if free, ok := measure.LastOf(r, "node_memory_MemAvailable_bytes"); ok && more > free {
		return fmt.Sprintf("; the host has %s to spare, and it takes %s more", units.Bytes(free), units.Bytes(more))
	}
	return ""
}

// collectorTime is the CPU time of a JVM's own threads that collect, and of all of its
// threads, s.
func collectorTime(p *scene.Process) (used, all float64) {
	for _, t := range p.Threads {
		a, z := t.Rows[0], t.Rows[len(t.Rows)-1]
		ran := max(0, z.OnCPU-a.OnCPU)
		all += ran
		if measure.Collects(z.Comm) {
			used += ran
		}
	}
	return used, all
}
