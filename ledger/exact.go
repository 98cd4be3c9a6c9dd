package ledger

import (
	"strconv"
	"time"

	"snag/internal/sorting"
	"snag/recording"
	"snag/scene"
)

// covered is for how much of each second intervals of a process last, by pid.
type covered map[int]map[int]float64

// add books an interval to the seconds of the window that it touches.
func (c covered) add(window recording.Interval, pid int, i recording.Interval) {
	if i.End == 0 || i.End > window.End {
		i.End = window.End
	}
	i.Start = max(i.Start, window.Start)
	if i.End <= i.Start {
		return
	}
	if c[pid] == nil {
		c[pid] = map[int]float64{}
	}
	for at := number(window, i.Start); at <= number(window, i.End); at++ {
		from, to := window.Start+recording.Time(at)*1e9, window.Start+recording.Time(at+1)*1e9
		if d := min(to, i.End) - max(from, i.Start); d > 0 {
			c[pid][at] += float64(d) / 1e9
		}
	}
}

// pauses are when the runtime of a process stood still. One may lie inside another, and
// two sources may tell of one.
func pauses(s *scene.Scene, r *recording.Recording) covered {
	by := map[int][]recording.Interval{}
	for _, e := range r.Events {
		if (e.Kind == recording.EventGCPause || e.Kind == recording.EventSafepoint) && e.End > e.T {
			by[e.Subject.PID] = append(by[e.Subject.PID], recording.Interval{Start: e.T, End: e.End})
		}
	}
	out := covered{}
	for pid, all := range by {
		sorting.By(all, func(a, b recording.Interval) int { return int(a.Start - b.Start) })
		end := recording.Time(0)
		for _, i := range all {
			i.Start = max(i.Start, end)
			if i.End > i.Start {
				out.add(s.Window, pid, i)
				end = i.End
			}
		}
	}
	// Stops without an event are only counted, and the time until all threads had stopped is, apart from the stop
	// itself.
	for _, p := range s.Processes {
		pid, counted := p.Subject.PID, covered{}
		for _, name := range []string{"snag_jvm_safepoint_seconds_total", "snag_jvm_safepoint_sync_seconds_total"} {
			for _, series := range r.Select(name, "pid", strconv.Itoa(pid)) {
				counted.steps(s.Window, pid, series, by[pid])
			}
		}
		out.atLeast(counted)
	}
	return out
}

// steps adds what a counter of stopped seconds grew by. It grows at the end of a stop: that of an event between the
// two looks, if there is one, else the middle between them.
func (c covered) steps(window recording.Interval, pid int, series recording.Series, events []recording.Interval) {
	for _, grown := range series.Steps() {
		if grown.V <= 0 || grown.T <= window.Start {
			continue
		}
		end := grown.T.Add(-time.Second / 2)
		for _, e := range events {
			if e.Start > grown.T.Add(-time.Second) && e.Start <= grown.T {
				end = e.Start
			}
		}
		c.add(window, pid, recording.Interval{Start: end.Add(-time.Duration(grown.V * 1e9)), End: max(end, 1)})
	}
}

// grew adds what a counter of seconds grew by in each second of a process.
func (c covered) grew(window recording.Interval, pid int, series recording.Series) {
	for _, grown := range series.Steps() {
		at := number(window, grown.T.Add(-time.Second)) // rows of a second have the time at which it began
		if grown.V <= 0 || grown.T <= window.Start {
			continue
		}
		if c[pid] == nil {
			c[pid] = map[int]float64{}
		}
		c[pid][at] = max(c[pid][at], min(1, grown.V))
	}
}

// atLeast raises the seconds of each process to those of another.
func (c covered) atLeast(other covered) {
	for pid, seconds := range other {
		if c[pid] == nil {
			c[pid] = map[int]float64{}
		}
		for at, n := range seconds {
			c[pid][at] = max(c[pid][at], min(1, n))
		}
	}
}

// stops are when a process was stopped, by the signals that it got: from the one that stopped it, or
// from the window's start where it was found stopped, to SIGCONT or to the window's end.
func stops(s *scene.Scene, r *recording.Recording) covered {
	since, out := map[int]recording.Time{}, covered{}
	for _, p := range s.Processes {
		if f := p.First(); f.State == "T" && f.T.Sub(s.Window.Start).Seconds() <= edge {
			since[p.Subject.PID] = max(s.Window.Start, 1)
		}
	}
	for _, e := range r.Events {
		if e.Kind != recording.EventSignal {
			continue
		}
		switch name, pid := e.Attrs["signal"], e.Subject.PID; {
		case recording.StopSignals[name] && e.Attrs["result"] != "ignored" && since[pid] == 0:
			since[pid] = e.T
		case name == "SIGCONT" && since[pid] != 0:
			out.add(s.Window, pid, recording.Interval{Start: since[pid], End: e.T})
			since[pid] = 0
		}
	}
	for pid, t := range since {
		if t > max(s.Window.Start, 1) { // of the others nobody knows when they went on: looks may tell
			out.add(s.Window, pid, recording.Interval{Start: t, End: s.Window.End})
		}
	}
	return out
}

// reclaims are for how long threads of a process reclaimed or compacted memory.
func reclaims(s *scene.Scene, r *recording.Recording) covered {
	out := covered{}
	for _, e := range r.Events {
		if (e.Kind == recording.EventReclaim || e.Kind == recording.EventCompaction) && e.End > e.T {
			out.add(s.Window, e.Subject.PID, recording.Interval{Start: e.T, End: e.End})
		}
	}
	return out
}

// throttled are for how much of each second the control group of a process had used up its quota.
func throttled(s *scene.Scene, r *recording.Recording) covered {
	out := covered{}
	for _, p := range s.Processes {
		for _, series := range r.Select("snag_cgroup_cpu_throttled_seconds_total", "cgroup", p.Last().Cgroup) {
			out.grew(s.Window, p.Subject.PID, series)
		}
	}
	return out
}

// correct lays the exact times beside what was found: looks do not see why a thread that
// runs makes no progress, nor why one that is ready has no CPU.
func (l looks) correct(s *scene.Scene, r *recording.Recording) {
	memory, quotas := reclaims(s, r), throttled(s, r)
	for pid, seconds := range l {
		quota, faulting := quotas[pid], readsBack(s, pid)
		for at, d := range seconds {
			// Of the time in which a thread was ready and did not run, at most one at a moment.
			if ready := d.busy[place{account: CPU}]; ready > 0 {
				d.move(place{account: CPU}, place{account: Quota}, min(1, quota[at]/min(1, ready))*ready)
			}
			if faulting[at] {
				for _, from := range []Account{Work, CPU, Disk, Kernel} {
					d.move(place{account: from}, place{account: Memory}, d.busy[place{account: from}])
				}
			}
			left := memory[pid][at]
			for _, from := range []Account{Kernel, Work, CPU} {
				left -= d.move(place{account: from}, place{account: Memory}, left)
			}
		}
	}
}

// A process that reads pages back, from swap or from files, fewFaults a second and more, and runs for
// no longer than faultCPU between two of them, does nothing else: what it runs for is the handling of
// the faults, 30 to 70 µs each with the reclaim, and what it waits for is the disk and, after each of
// them, a CPU. Of its waits a quarter must be faults: the pages read ahead for others are waited for too.
const (
	fewFaults   = 20
	faultCPU    = 0.0002 // s
	faultsWaits = 0.25
)

// readsBack are the seconds in which a process did little else than read pages back.
func readsBack(s *scene.Scene, pid int) map[int]bool {
	p, out, waits := s.Process(pid), map[int]bool{}, map[int]float64{}
	if p == nil {
		return nil
	}
	for _, t := range p.Threads {
		for i := 1; i < len(t.Rows); i++ {
			if a, b := t.Rows[i-1], t.Rows[i]; b.Voluntary > a.Voluntary {
				waits[number(s.Window, b.T.Add(-time.Second/2))] += float64(b.Voluntary - a.Voluntary)
			}
		}
	}
	for i := 1; i < len(p.Rows); i++ {
		a, b := p.Rows[i-1], p.Rows[i]
		if a.MajorFaults == nil || b.MajorFaults == nil || *b.MajorFaults <= *a.MajorFaults {
			continue
		}
		at, n := number(s.Window, b.T.Add(-time.Second/2)), float64(*b.MajorFaults-*a.MajorFaults)
		if n >= fewFaults*b.T.Sub(a.T).Seconds() && b.CPU-a.CPU <= n*faultCPU && n >= faultsWaits*waits[at] {
			out[at] = true
		}
	}
	return out
}

// move books threads from one place to another, as many as there are.
func (d *doing) move(from, to place, threads float64) float64 {
	threads = min(threads, d.busy[from])
	if threads <= 0 {
		return 0
	}
	d.busy[from] -= threads
	d.busy[to] += threads
	return threads
}
