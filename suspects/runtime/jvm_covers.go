package runtime

import (
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// coveredLittle is the share of the slow answers' time below which a pause is not what
// they waited for: in the lab it is 0.7 to 1 where the pauses are the cause.
const coveredLittle = 0.2

// coverage is how much of the time that its slow answers took lay inside of its pauses:
// an answer that took 5 s is not explained by a pause of 0.25 s within. n is in how
// many seconds of the symptom answers were given; took is their slowest, summed.
func (j *standstill) coverage(s *scene.Scene, r *recording.Recording) (share, took float64, n int) {
	pid := j.process.Subject.PID
	var slow []recording.Interval
	for _, sym := range s.Symptoms {
		if sym.Name == scene.RequestLatency && sym.Subject.PID == pid && !sym.Reported {
			slow = append(slow, sym.Active...)
		}
	}
	active, covered := j.active(), 0.0
	for _, t := range r.Turns {
		if t.PID != pid || t.Role != "serve" || t.N == 0 || t.Max < 0.5*feltPause || !intervals.Cover(slow, t.T.Add(500*time.Millisecond)) {
			continue
		}
		n++
		took += t.Max
		covered += min(t.Max, intervals.Overlap(active, []recording.Interval{spanOf(t.T, t.Max)}, s.Window.End).Seconds())
	}
	if took > 0 {
		share = covered / took
	}
	return share, took, n
}

// coverageEvidence says how much of the symptom the pauses cover. It is of the same
// origin as what the answers' times say, and so never counts twice for it.
func (j *standstill) coverageEvidence(s *scene.Scene, r *recording.Recording) (suspect.Evidence, bool) {
	share, took, n := j.coverage(s, r)
	if n == 0 {
		return suspect.Evidence{}, false
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: share, Unit: "ratio", Source: source.Turns, Origin: "turns",
		Text: fmt.Sprintf("its pauses cover %.0f %% of the time that its slowest answers took (%s in %s with slow answers)", 100*share, units.Lasting(took), units.Plural(n, "second"))}
	if share < coveredLittle && n >= 3 {
		e.Side, e.Grade = suspect.Against, suspect.Decisive
	}
	return e, true
}

// spanOf is in what time an answer lay that took so long and was given in the second
// from t on.
func spanOf(t recording.Time, took float64) recording.Interval {
	return recording.Interval{Start: t.Add(-measure.Duration(took)), End: t.Add(time.Second)}
}

// explains reports whether the half of such an answer's time lay inside of the pauses.
func explains(pauses []recording.Interval, t recording.Time, took float64, end recording.Time) bool {
	return intervals.Overlap(pauses, []recording.Interval{spanOf(t, took)}, end).Seconds() >= 0.5*took
}

// slowest is how long the slowest answer of each second took.
func (j *standstill) slowest(r *recording.Recording) map[recording.Time]float64 {
	took := map[recording.Time]float64{}
	for _, t := range r.Turns {
		if t.PID == j.process.Subject.PID && t.Role == "serve" && t.N > 0 {
			took[t.T] = max(took[t.T], t.Max)
		}
	}
	return took
}

// answers counts the seconds in which its slowest answer took half of a felt pause
// or longer, among those with a pause (and the one after, in which the answer was
// sent) and the others.
func (j *standstill) answers(s *scene.Scene, r *recording.Recording) (in, ofIn, out, ofOut int, worst, calm float64) {
	took, active, end := j.slowest(r), j.active(), s.Window.End
	count := func(slowest, length float64) {
		ofIn++
		if slowest >= 0.5*length {
			in++
			worst = max(worst, slowest)
		}
	}
	if j.stalled(end) { // where one thread's wait ends others go on: by the second
		for t, v := range took {
			if intervals.Overlap(active, []recording.Interval{measure.OneSecond(t)}, end) == 0 {
				continue
			}
			if !explains(active, t, v, end) {
				v = 0
			}
			count(v, feltPause)
		}
	} else {
		for _, i := range active {
			slowest, seen := 0.0, false
			for t, v := range took {
				if i.End == 0 || t > i.End.Add(100*time.Millisecond) || t.Add(time.Second) < i.End {
					continue
				}
				if seen = true; explains(active, t, v, end) {
					slowest = max(slowest, v)
				}
			}
			if seen {
				count(slowest, min(i.Length(end).Seconds(), j.longest))
			}
		}
	}
	for t, v := range took {
		second := recording.Interval{Start: t.Add(-100 * time.Millisecond), End: t.Add(1100 * time.Millisecond)}
		told := active
		if j.stalled(end) {
			told = append(told[:len(told):len(told)], j.stalls.untold())
		}
		if intervals.Overlap(told, []recording.Interval{second}, end) > 0 {
			continue
		}
		ofOut++
		if calm = max(calm, v); v >= 0.5*feltPause {
			out++
		}
	}
	return in, ofIn, out, ofOut, worst, calm
}
