package host

import (
	"fmt"
	"sort"
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

// cpuWait is how long the threads of one process were ready to run and waited for
// a CPU.
type cpuWait struct {
	process *scene.Process
	waited  float64 // s, all threads together
	ran     float64 // s on a CPU
	span    float64 // s from the first look to the last
	taken   float64 // share of the time that its most wanted thread ran or waited to
	active  []recording.Interval
	seconds map[recording.Time]float64 // that it waited in each, by when that ends
}

// of is the share of the time in which it wanted to run that it waited.
func (w cpuWait) of() float64 { return w.waited / (w.waited + w.ran) }

// A process is late when its threads waited a tenth of the time (delayShare), and
// a third of the time that they wanted to run: a server on a busy machine waits
// for 0.02 to 0.1 of the time and a tenth to a quarter of what it wants.
const waitOfWanted = 0.33

func (w cpuWait) late() bool { return w.waited >= delayShare*w.span && w.of() >= waitOfWanted }

// mostWhileFull is the part of the waiting that is for full CPUs, where these were full for a while only.
const mostWhileFull = 0.75

// whileFull reports that a process whose users were late waited while all CPUs were busy, though they
// were not for the rest of the window: somebody began to compute, or stopped.
func (w cpuWait) whileFull(s *scene.Scene, full measure.CPUTime) bool {
	in := 0.0
	for at, waited := range w.seconds {
		if intervals.Cover(full.While, at*1e9) {
			in += waited
		}
	}
	return w.late() && in >= mostWhileFull*w.waited && lateness(s, w.process) != nil
}

// longEach reports that a process which wants to run now and then only waits longer for a CPU than it
// runs, and for long at each request: one of few requests never waits for a tenth of the time.
func (w cpuWait) longEach(r *recording.Recording) bool {
	each, _ := w.perRequest(r)
	return w.of() >= 0.5 && each >= ledger.FaintEach
}

// cpuWaits measures every process with sockets whose threads were followed, those
// that waited longest first.
func cpuWaits(s *scene.Scene, r *recording.Recording) []cpuWait {
	var out []cpuWait
	for _, p := range s.Processes {
		if len(p.Sockets) == 0 || p.Subject.PID == r.Manifest.SelfPID {
			continue
		}
		w := cpuWait{process: p, seconds: map[recording.Time]float64{}}
		for _, t := range p.Threads {
			for i := 1; i < len(t.Rows); i++ {
				a, b := t.Rows[i-1], t.Rows[i]
				if b.RunDelay < a.RunDelay || b.OnCPU < a.OnCPU { // the id was given again
					continue
				}
				w.waited += b.RunDelay - a.RunDelay
				w.ran += b.OnCPU - a.OnCPU
				w.seconds[recording.Time(int64(b.T)/1e9)] += b.RunDelay - a.RunDelay
			}
			a, z := t.Rows[0], t.Rows[len(t.Rows)-1]
			d := z.T.Sub(a.T).Seconds()
			w.span = max(w.span, d)
			if d > 0 {
				w.taken = max(w.taken, (z.RunDelay-a.RunDelay+z.OnCPU-a.OnCPU)/d)
			}
		}
		if w.span < 2 {
			continue
		}
		for at, waited := range w.seconds {
			if waited >= delayShare {
				w.active = append(w.active, recording.Interval{Start: at*1e9 - 1e9, End: at * 1e9})
			}
		}
		w.active = fromBefore(intervals.Merge(w.active, measure.Joined), firstLook(p), s.Window)
		out = append(out, w)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].waited > out[j].waited })
	return out
}

// firstLook is when the threads of a process were first looked at: not before it
// was worth a closer look.
func firstLook(p *scene.Process) recording.Time {
	var first recording.Time
	for _, t := range p.Threads {
		if at := t.Rows[0].T; first == 0 || at < first {
			first = at
		}
	}
	return first
}

// fromBefore begins the first interval with the window where it held as soon as
// anybody looked: when it began is not known, and that is no sign that it came late.
func fromBefore(active []recording.Interval, first recording.Time, window recording.Interval) []recording.Interval {
	const soon = 2 * time.Second // of the first look: two samples
	if len(active) > 0 && first != 0 && active[0].Start <= first.Add(soon) {
		active[0].Start = window.Start
	}
	return active
}

// evidence is the wait itself.
func (w cpuWait) evidence() suspect.Evidence {
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: w.of(), Unit: "share", Source: source.Schedstat.As("/proc/PID/task/TID/schedstat"), Origin: "run delay",
		Text: fmt.Sprintf("threads of %s were ready and waited for a CPU for %s together in %s: %.0f %% of the time that they wanted to run (healthy under 25 %%)",
			w.process.Subject.Name, units.Lasting(w.waited), units.Lasting(w.span), 100*w.of())}
}

// above is the group that one is in; "" of one without: a recording may hold any text.
func above(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }

// throttled reports that the wait is a quota's: a throttled group's threads are
// ready and do not run (kernel/sched/fair.c, throttle_cfs_rq).
func (w cpuWait) throttled(r *recording.Recording) *suspect.Evidence {
	for path := w.process.Last().Cgroup; path != "" && path != "/" && path != "."; path = above(path) {
		held, ok := increaseOf(r, "snag_cgroup_cpu_throttled_seconds_total", path)
		if ok && held >= 0.3*w.waited {
			return &suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: held, Unit: "s", Source: source.Of("cpu.stat throttled time of "+path, source.Throttled, source.ThrottledTime), Origin: "cpu.stat",
				Text: fmt.Sprintf("the quota of its control group %s throttled it for %s: the CPUs were not what it waited for", path, units.Lasting(held))}
		}
	}
	return nil
}

// perRequest compares the wait with what the process' requests took. Nil where
// its requests were not followed.
func (w cpuWait) perRequest(r *recording.Recording) (wait float64, e *suspect.Evidence) {
	n, took := 0.0, 0.0
	for _, t := range r.Turns {
		if t.Role == "serve" && t.PID == w.process.Subject.PID {
			n, took = n+float64(t.N), took+t.Sum
		}
	}
	if n < 10 || took <= 0 {
		return 0, nil
	}
	share := r.ShareOf("sockets.turns") // the wait was measured all of the time
	n, took = n/share, took/share
	wait = min(w.waited, took) / n
	e = &suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: wait, Unit: "s", Source: source.AllTurns.As("turns"), Origin: "turns",
		Text: fmt.Sprintf("of %s per request, %s was waiting for a CPU", units.Lasting(took/n), units.Lasting(wait))}
	// Requests that stand behind others at one thread all wait while it waits once:
	// where it is taken up with running and waiting, the sum of them says nothing.
	if w.waited < 0.1*took && w.taken < 0.5 {
		e.Side, e.Grade = suspect.Against, suspect.Decisive
	}
	return wait, e
}

// waitedElsewhere is the part of a service's time below which waiting for a CPU is not what its
// answers are late for. A batch job on all CPUs costs a healthy service a tenth of its time,
// and now and then an answer is late meanwhile.
const waitedElsewhere = 0.2

// elsewhere reports that the process' requests are late, but hardly for want of a CPU: by what
// its threads were found in while they were open. Nil where that is not so or not known.
func (w cpuWait) elsewhere(s *scene.Scene, l *ledger.Ledger) *suspect.Evidence {
	share, ok := l.Share(w.process.Subject.PID, ledger.CPU)
	sym := lateness(s, w.process)
	if !ok || share >= waitedElsewhere || sym == nil || sym.Name != scene.RequestLatency {
		return nil
	}
	return &suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: share, Unit: "share", Source: source.ThreadState, Origin: "ledger",
		Text: fmt.Sprintf("only %.0f %% of the time of its requests was waiting for a CPU", 100*share)}
}

// latency are the symptoms of a process that waiting for a CPU may cause.
var latency = map[string]bool{
	scene.RequestLatency: true, scene.ConnectLatency: true, scene.StreamFreeze: true, scene.StreamLate: true, scene.DatagramsLost: true,
}

// lateness is a symptom of the process or of a socket of its own; nil when
// nobody felt anything.
func lateness(s *scene.Scene, p *scene.Process) *scene.Symptom {
	for i, sym := range s.Symptoms {
		if !latency[sym.Name] {
			continue
		}
		// A server that works in children listens itself.
		if pid := sym.Subject.PID; pid == p.Subject.PID || pid > 1 && pid == p.Last().PPID {
			return &s.Symptoms[i]
		}
		for _, k := range p.Sockets {
			if k.ID == scene.IDOf(sym.Subject) {
				return &s.Symptoms[i]
			}
		}
	}
	return nil
}

// felt says whether the users of the processes that waited noticed.
func felt(s *scene.Scene, waited ...*scene.Process) suspect.Evidence {
	for _, p := range waited {
		if sym := lateness(s, p); sym != nil {
			return suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Source: source.Of("symptoms"), Origin: "symptoms", Text: fmt.Sprintf("%s of %s: %s", sym.Name, p.Subject.Name, sym.Text)}
		}
	}
	return suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Source: source.Of("symptoms"), Origin: "symptoms", Text: "no service that waited was late: no client was affected"}
}

// cpuSet reads a list of CPUs, "0-3,7"; nil for all or not known.
func cpuSet(list string) map[int]bool {
	if list == "" {
		return nil
	}
	out := map[int]bool{}
	for _, part := range strings.Split(list, ",") {
		a, b, span := strings.Cut(part, "-")
		from, err := strconv.Atoi(a)
		to := from
		if err == nil && span {
			to, err = strconv.Atoi(b)
		}
		if err != nil || from < 0 || to < from || to-from > 8192 {
			return nil
		}
		for i := from; i <= to; i++ {
			out[i] = true
		}
	}
	return out
}
