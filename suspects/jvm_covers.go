package suspects

import (
	"fmt"
	"time"

	"snag/recording"
	"snag/scene"
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
		if t.PID != pid || t.Role != "serve" || t.N == 0 || t.Max < 0.5*feltPause || !covers(slow, t.T.Add(500*time.Millisecond)) {
			continue
		}
		n++
		took += t.Max
		covered += min(t.Max, overlap(active, []recording.Interval{spanOf(t.T, t.Max)}, s.Window.End).Seconds())
	}
	if took > 0 {
		share = covered / took
	}
	return share, took, n
}

// coverageEvidence says how much of the symptom the pauses cover. It is of the same
// origin as what the answers' times say, and so never counts twice for it.
func (j *standstill) coverageEvidence(s *scene.Scene, r *recording.Recording) (Evidence, bool) {
	share, took, n := j.coverage(s, r)
	if n == 0 {
		return Evidence{}, false
	}
	e := Evidence{Side: For, Grade: Weak, Value: share, Unit: "ratio", Source: "request turns of its listeners", Origin: "turns",
		Text: fmt.Sprintf("its pauses cover %.0f %% of the time that its slowest answers took (%s in %s with slow answers)", 100*share, lasting(took), plural(n, "second"))}
	if share < coveredLittle && n >= 3 {
		e.Side, e.Grade = Against, Decisive
	}
	return e, true
}

// spanOf is in what time an answer lay that took so long and was given in the second
// from t on.
func spanOf(t recording.Time, took float64) recording.Interval {
	return recording.Interval{Start: t.Add(-secondsLong(took)), End: t.Add(time.Second)}
}

// explains tells whether the half of such an answer's time lay inside of the pauses.
func explains(pauses []recording.Interval, t recording.Time, took float64, end recording.Time) bool {
	return overlap(pauses, []recording.Interval{spanOf(t, took)}, end).Seconds() >= 0.5*took
}
