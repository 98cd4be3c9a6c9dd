package runtime

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// goStops are the stops of a Go program's world that somebody may feel; nil where none
// was timed, or none took long.
func goStops(p *scene.Process, r *recording.Recording, window recording.Interval) *standstill {
	j := &standstill{process: p, causes: map[string]float64{}, gc: map[string]float64{}, stops: measure.StopsOf(p, r, window).Spans}
	for _, e := range r.Events {
		if e.Kind != recording.EventSafepoint || e.Subject.PID != p.Subject.PID || e.Attrs["runtime"] != "Go" {
			continue
		}
		i := e.Interval()
		length := i.Length(window.End).Seconds()
		if length < feltPause || j.outside(i, window) {
			continue
		}
		j.pauses = append(j.pauses, i)
		j.exact++
		j.longest = max(j.longest, length)
		j.total += length
		j.timed.add(e, length)
	}
	if len(j.pauses) == 0 {
		return nil
	}
	return j
}

// goFinding is what the stops of a Go program's world did.
func (j *standstill) goFinding(s *scene.Scene, r *recording.Recording) suspect.Finding {
	p := j.process.Subject
	f := suspect.Finding{Subject: p, Active: intervals.Merge(j.pauses, 0)}
	f.Text = fmt.Sprintf("the Go runtime stopped its world %s, for %s in all, %s at the longest", units.Times(len(j.pauses)), units.Lasting(j.total), units.Lasting(j.longest))
	why := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: j.total, Unit: "s", Origin: "Go's runtime",
		Source: source.Ofs("runtime.stopTheWorldWithSema, startTheWorldWithSema of process %d", p.PID),
		Text:   fmt.Sprintf("timed in its runtime: %s of 0.2 s and longer, %s in all, %s at the longest", units.Plural(len(j.pauses), "stop"), units.Lasting(j.total), units.Lasting(j.longest))}
	if op := mostOften(j.timed.operations); op != "" {
		why.Text += fmt.Sprintf("; for %s in %d of them", op, j.timed.operations[op])
		f.Text += "; for " + op
	}
	if by := mostOften(j.timed.askers); by != "" {
		why.Text += "; asked for by " + by
		f.Text += ", asked for by " + by
	}
	waits, late := j.felt(s, r)
	f.Evidence = append([]suspect.Evidence{why}, waits...)
	if late {
		f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: j.meanDelay(s.Window), Unit: "s",
			Text: fmt.Sprintf("a request waits for up to %s, %s on average", units.Lasting(j.longest), units.Lasting(j.meanDelay(s.Window)))}
	}
	f.Remedy = suspect.Remedy{Program: fmt.Sprintf("%s: find the goroutine that can't be stopped (a loop without calls, C code, a huge copy), or who dumps its goroutines and heap (a profiler, a debug endpoint).", p.Comm)}
	f.Next = fmt.Sprintf("snag profile --pid %d --off --go-runtime; GODEBUG=gctrace=1 in its environment", p.PID)
	return f
}
