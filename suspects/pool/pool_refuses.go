package pool

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

const (
	// fullAtEnd of the seconds with errors end with all connections in use: calls that nothing
	// limits are now more, now fewer.
	fullAtEnd = 0.5
	// uncalled is how far the errors and the requests without a call may lie apart.
	uncalled = 0.1
)

// refusedForRoom are services that do not let a request wait for a connection to what they call, but
// answer it with an error at once: each error is a request for which nothing was called, and as many
// calls are open as there may be, never more.
func refusedForRoom(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	calls := scene.Services(s, r, "call")
	for _, v := range scene.Services(s, r, "serve") {
		failed, of, as := v.Failed()
		if failed < fewRefusals || slices.ContainsFunc(r.Connections, func(c recording.Connections) bool {
			return c.Role == "connect" && c.Failed > 0 && slices.Contains(v.PIDs, c.PID)
		}) {
			continue
		}
		mine := slices.DeleteFunc(slices.Clone(calls), func(c *scene.Service) bool {
			return !slices.ContainsFunc(c.PIDs, func(pid int) bool { return slices.Contains(v.PIDs, pid) })
		})
		if len(mine) != 1 || strings.HasPrefix(mine[0].Rows[0].Remote, "unix:") {
			continue // that a UNIX socket has no room is an error of connect which no probe counts
		}
		c, made := mine[0], 0.0
		open, most := map[int64]uint64{}, uint64(0)
		for _, row := range c.Rows {
			made += float64(row.N)
			open[wholeSecond(r, row.T)] = row.Open
			most = max(most, row.Open)
		}
		var refusing []recording.Interval
		full := 0
		for _, row := range v.Rows {
			if row.Failed > 0 {
				refusing = append(refusing, measure.OneSecond(row.T))
				if open[wholeSecond(r, row.T)] == most {
					full++
				}
			}
		}
		if most < fewHeld || full < 3 || float64(full) < fullAtEnd*float64(len(refusing)) || math.Abs(of-failed-made) > uncalled*failed {
			continue
		}
		where := c.Rows[0].Remote
		f := suspect.Finding{Subject: v.Subject, Related: []recording.Subject{c.Subject}, Active: intervals.Merge(refusing, measure.Joined),
			Text: fmt.Sprintf("it has at most %s to %s in use at once, and answers with an error at once where none is free", units.Plural(int(most), "connection"), where)}
		f.Evidence = []suspect.Evidence{
			{Side: suspect.For, Grade: suspect.Strong, Value: float64(most), Unit: "calls", Source: source.CallTurns, Origin: "calls",
				Text: fmt.Sprintf("%d of the %d seconds in which it answered with errors ended with %d calls open, and none with more", full, len(refusing), most)},
			{Side: suspect.For, Grade: suspect.Strong, Value: failed, Unit: "answers", Source: source.FirstBytes.And(source.AllTurns), Origin: "answers",
				Text: fmt.Sprintf("%s of %s answers were errors (%s), and it made %s calls: none for a request that failed", units.Count(failed), units.Count(of), as, units.Count(made))},
		}
		f.Harm = suspect.Harm{Symptom: scene.FailedAnswers, Amount: failed, Of: of, Unit: "answers", Text: f.Text}
		f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("%s: more than %d connections to %s in its configuration, as far as that can work on more at a time, or a queue for them.", measure.OrProgram(v.Subject.Comm), most, where), Program: "Shorter calls."}
		out = append(out, f)
	}
	return out
}

// wholeSecond numbers the seconds of a recording.
func wholeSecond(r *recording.Recording, t recording.Time) int64 {
	return int64(math.Round(t.Sub(r.Manifest.Start).Seconds()))
}
