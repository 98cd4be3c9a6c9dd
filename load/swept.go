package load

import (
	"context"
	"errors"
	"fmt"

	"snag/load/shape"
)

// Swept is what came of a sweep.
type Swept struct {
	Points []shape.Point // one for each step that was over
	Of     int           // the steps that there were to be
	Ended  string        // why it ended before its last step; "": it did not
}

// mostFailed steps in a row end a sweep: the service is gone.
const mostFailed = 3

// interrupted is why something ended early that the user, or a signal, ended.
const interrupted = "interrupted"

// RunSweep runs all steps. A step that can't run, as its name is not found or nothing listens any more, is a point
// with the reason. each is called after each step, with how many there are. It is an error if the first step can't
// run, or if no step is over when ctx is done.
func RunSweep(ctx context.Context, s Sweep, each func(n, of int, p shape.Point)) (out Swept, err error) {
	steps := s.Steps()
	out.Of = len(steps)
	failed := 0
	for i, p := range steps {
		r, err := Run(ctx, p)
		if ctx.Err() != nil { // the step was cut
			break
		}
		if err != nil && i == 0 {
			return out, fmt.Errorf("step 1 of %d, %g requests/s on %d connections: %w", len(steps), p.Rate, p.Conns, err)
		}
		var point shape.Point
		if err != nil {
			point, failed = failedPoint(p, err), failed+1
		} else {
			point, failed = PointOf(r), 0
		}
		out.Points = append(out.Points, point)
		each(i+1, len(steps), point)
		if failed == mostFailed && i+1 < len(steps) {
			out.Ended = fmt.Sprintf("%d steps in a row failed, the last one with: %v", failed, err)
			return out, nil
		}
	}
	if len(out.Points) == 0 {
		return out, errors.New("interrupted before the first step was over: nothing was measured")
	}
	if len(out.Points) < len(steps) {
		out.Ended = interrupted
	}
	return out, nil
}

// NotOurs reports whether no point has figures of the service.
func (s Swept) NotOurs() bool {
	for _, p := range s.Points {
		if p.Why == "" {
			return false
		}
	}
	return true
}

// failedPoint is of a step that could not run; not measured is not zero: it has the reason and no figures.
func failedPoint(p Plan, err error) shape.Point {
	return shape.Point{Rate: p.Rate, Conns: p.Conns, Streams: max(1, p.Streams), Size: p.Size, Failed: true, Why: fmt.Sprint(err)}
}

// PointOf is what a shape needs of a run.
func PointOf(r *Result) shape.Point {
	at := func(q float64) float64 { return float64(r.FromSent.ValueAtQuantile(q)) / 1e9 }
	p := shape.Point{Rate: r.Plan.Rate, Conns: r.Plan.Conns, Streams: r.StreamsEach(), Size: r.Plan.Size, Answers: r.Rate(), Open: r.Open, Lost: r.LostAll(), Sent: r.Sent, Why: r.HonestSinceSent()}
	if r.FromSent.TotalCount() > 0 {
		p.Mean, p.P50, p.P90, p.P99 = r.FromSent.Mean()/1e9, at(50), at(90), at(99)
		p.Lag = float64(r.Lag.ValueAtQuantile(50)) / 1e9
		p.DueWhy = r.lateItself()
	}
	if r.FromDue.TotalCount() > 0 {
		p.DueP50, p.DueP99 = float64(r.FromDue.ValueAtQuantile(50))/1e9, float64(r.FromDue.ValueAtQuantile(99))/1e9
	}
	return p
}
