package runtime

import (
	"fmt"
	"strconv"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

const (
	// v8Much of its CPU time in mark-compact is rare where the heap has room: V8 lets it
	// grow so that collections stay cheap. v8Most is not found there at all.
	v8Much = 0.2
	v8Most = 0.5
	// asFull is the share of the limit of its old space that the memory of a program
	// has at the least where that is full: code, stacks and buffers come besides.
	asFull = 0.9
)

// v8Full is Node.js whose CPU time goes to V8's collector of the old space.
func v8Full(s *scene.Scene, r *recording.Recording, p *scene.Process) (suspect.Finding, bool) {
	all, collects := v8Samples(r, p.Subject.PID)
	if all < measure.FewSamples || collects < v8Much*all {
		return suspect.Finding{}, false
	}
	pid, share := p.Subject.PID, collects/all
	f := suspect.Finding{Subject: p.Subject,
		Text: fmt.Sprintf("V8 collects garbage of its old space for %.0f %% of the CPU time of the process", 100*share),
		Evidence: []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.Ofs("snag profile --pid %d", pid), Origin: "profile",
			Text: fmt.Sprintf("%s samples of its CPU time were in V8's mark-compact", units.OfAll(collects, all))}},
		Remedy: suspect.Remedy{Permanently: fmt.Sprintf("A larger node --max-old-space-size= in the start of %s, and a restart.", measure.OrProgram(p.Subject.Comm)), Program: "Keep less in the heap."},
		Next:   fmt.Sprintf("node --heapsnapshot-signal=SIGUSR2 at its next start, then kill -USR2 %d: what fills it", pid)}
	if share >= v8Most {
		f.Evidence[0].Grade = suspect.Decisive
	}
	// V8 ends the process itself where a collection frees too little.
	if n := aborts(r, p); n > 0 {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: n, Unit: "times", Source: source.Tracepoint("sched:sched_process_exit", source.Ends), Origin: "ends",
			Text: fmt.Sprintf("%s ended by its own SIGABRT %s, as V8 does when the heap is full", p.Subject.Comm, units.Times(int(n)))})
	}
	limit, ok := oldSpace(p.Last().Cmdline)
	if rss := p.Last().RSS; ok && rss != nil && float64(*rss) >= asFull*limit {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(*rss), Unit: "bytes", Source: source.Ofs("/proc/%d/status VmRSS, cmdline", pid), Origin: "VmRSS",
			Text: fmt.Sprintf("it holds %s, and its old space may have %s", units.Bytes(float64(*rss)), units.Bytes(limit))})
		f.Remedy.Permanently = fmt.Sprintf("node --max-old-space-size=%.0f (now %.0f) in the start of %s, and a restart.", 2*limit/(1<<20), limit/(1<<20), measure.OrProgram(p.Subject.Comm))
	}
	return f, true
}

// v8Samples are the samples of a process' CPU time, and those of them in the collector of
// V8's old space: its own threads', which mark and sweep beside, too.
func v8Samples(r *recording.Recording, pid int) (all, collects float64) {
	in := map[int]bool{}
	for _, s := range r.Stacks {
		for _, frame := range s.Frames {
			if strings.Contains(frame, "v8::internal::MarkCompact") || strings.Contains(frame, "v8::internal::ConcurrentMarking") || strings.Contains(frame, "v8::internal::Sweeper") {
				in[s.ID] = true
				break
			}
		}
	}
	for _, row := range r.Ran() {
		if row.PID == pid {
			all += float64(row.N)
			if in[row.Stack] {
				collects += float64(row.N)
			}
		}
	}
	return all, collects
}

// oldSpace is the --max-old-space-size of a command line, bytes.
func oldSpace(cmdline string) (float64, bool) {
	for _, word := range strings.Fields(cmdline) {
		name, text, ok := strings.Cut(strings.ReplaceAll(word, "_", "-"), "=")
		if n, err := strconv.ParseUint(text, 10, 32); ok && name == "--max-old-space-size" && err == nil && n > 0 {
			return float64(n) * (1 << 20), true
		}
	}
	return 0, false
}

// aborts is how often programs of a process' name and parent ended by their own abort.
func aborts(r *recording.Recording, p *scene.Process) (n float64) {
	for _, e := range r.Exits {
		if e.Signal == "SIGABRT" && e.Comm == p.Subject.Comm && e.PPID == p.Last().PPID {
			n += float64(e.N)
		}
	}
	return n
}
