package pool

import (
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
)

// workByCount compares what a process answered for each second of its CPU time
// while it had few threads with when it had many, by the rows that every process
// of interest has, watched or not. False where their number did not grow by a half,
// either number was seen for less than fewSecondsOfWork, or answers were counted in
// slices of the time only.
func workByCount(p *scene.Process, r *recording.Recording) (few, many, less, more float64, ok bool) {
	if r.ShareOf("sockets.turns") < 1 {
		return 0, 0, 0, 0, false
	}
	var answered measure.Steps
	for _, t := range r.Turns {
		if t.PID == p.Subject.PID && t.Role == "serve" {
			answered = append(answered, measure.Step{Interval: measure.OneSecond(t.T), N: float64(t.N)})
		}
	}
	type work struct{ done, cpu, seconds float64 }
	by := map[int]*work{}
	for i := 0; i+1 < len(p.Rows); i++ {
		a, b := p.Rows[i], p.Rows[i+1]
		if a.Threads != b.Threads || b.CPU <= a.CPU {
			continue
		}
		w := by[a.Threads]
		if w == nil {
			w = &work{}
			by[a.Threads] = w
		}
		done, _ := answered.Between(recording.Interval{Start: a.T, End: b.T})
		w.done, w.cpu, w.seconds = w.done+done, w.cpu+b.CPU-a.CPU, w.seconds+b.T.Sub(a.T).Seconds()
	}
	for threads, w := range by {
		if w.seconds < fewSecondsOfWork {
			continue
		}
		if n := float64(threads); few == 0 || n < few {
			few, less = n, w.done/w.cpu
		}
		if n := float64(threads); n > many {
			many, more = n, w.done/w.cpu
		}
	}
	return few, many, less, more, few > 0 && many >= 1.5*few && less > 0
}

// fewSecondsOfWork with one number of threads: answers are counted by the second.
const fewSecondsOfWork = 2.5
