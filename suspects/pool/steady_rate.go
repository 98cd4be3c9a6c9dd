package pool

import (
	"fmt"
	"math"
	"slices"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// A service may have a queue of its own and work on so many requests at a time: goroutines, coroutines, a limit of its
// rate. No thread is seen to hold them. What shows it is its rate: as many answers in each second, however many more
// came and however many are open.
const (
	steadyFor   = 8   // seconds, of which moreCame are those in which more came than it answered
	steadyLeast = 5   // answers in a second
	steadyBy    = 0.1 // of the median: of what comes by chance a second has its root more or less
	moreCame    = 3
	surplus     = 1.2
	grownBy     = 2.0 // the fullest of these seconds has so many times as many open as the emptiest
	heldInside  = 0.7 // of its requests' time no thread worked for them
	mostCPU     = 0.5 // CPUs
)

// steady is what a service answers per second, and what shows that it can do no more.
type steady struct {
	rate               float64 // answers per second
	seconds            int
	came               float64 // in the second in which most did
	least, most        uint64  // open, at the ends of these seconds
	active             []recording.Interval
	worst, of, surplus int
}

// steadyOf is nil where a service's answers vary, or as few came as it answered.
func steadyOf(v *scene.Service) *steady {
	rows := slices.Clone(v.Rows)
	if len(rows) < steadyFor+2 {
		return nil
	}
	rows = rows[1 : len(rows)-1] // the first and the last are no whole seconds
	var n []float64
	for _, row := range rows {
		n = append(n, float64(row.N))
	}
	slices.Sort(n)
	out := &steady{rate: n[len(n)/2], least: math.MaxUint64}
	if out.rate < steadyLeast {
		return nil
	}
	near := max(1, steadyBy*out.rate)
	before := v.Rows[0].Open
	for _, row := range rows {
		came := float64(row.N) + float64(row.Open) - float64(before)
		before = row.Open
		if float64(row.Open) < out.rate/2 && came < surplus*out.rate { // nothing queues
			continue
		}
		out.of++
		if math.Abs(float64(row.N)-out.rate) > near {
			out.worst++
			continue
		}
		out.seconds++
		out.least, out.most = min(out.least, row.Open), max(out.most, row.Open)
		if came >= surplus*float64(row.N) {
			out.surplus++
			out.came = max(out.came, came)
			out.active = append(out.active, measure.OneSecond(row.T))
		}
	}
	out.active = intervals.Merge(out.active, measure.Joined)
	if out.seconds < steadyFor || out.surplus < moreCame || 10*out.worst > out.of || float64(out.most) < grownBy*float64(max(1, out.least)) {
		return nil
	}
	return out
}

// steadyRate is a service that answers as many requests each second, whatever comes, while it computes little, calls
// nobody and waits for no lock.
func steadyRate(p *pool, s *scene.Scene, r *recording.Recording, l *ledger.Ledger) (suspect.Finding, bool) {
	if l == nil || r.ShareOf("sockets.turns") < 1 {
		return suspect.Finding{}, false
	}
	for _, v := range scene.Services(s, r, "serve") {
		if !slices.ContainsFunc(v.PIDs, func(pid int) bool { return p.worker(pid) != nil || p.head.Subject.PID == pid }) {
			continue
		}
		q := steadyOf(v)
		if q == nil {
			continue
		}
		held, ok := parkedOf(l, v.PIDs)
		cpu, known := cpusOf(p)
		if !ok || held < heldInside || !known || cpu > mostCPU || p.stopped(r, s.Window) {
			continue
		}
		comm := p.head.Subject.Comm
		f := suspect.Finding{Subject: p.head.Subject, Related: append(p.related(), v.Subject), Active: q.active,
			Text: fmt.Sprintf("it answers %.3g requests per second and no more, with %d to %d open: the places of its workers are all taken, or it limits its rate", q.rate, q.least, q.most)}
		f.Evidence = []suspect.Evidence{
			{Side: suspect.For, Grade: suspect.Strong, Value: q.rate, Unit: "requests/s", Source: source.AllTurns, Origin: "turns",
				Text: fmt.Sprintf("in each of %d seconds it answered %.3g requests, within %.0f %%; in %d of them more came, up to %.3g", q.seconds, q.rate, 100*steadyBy, q.surplus, q.came)},
			{Side: suspect.For, Grade: suspect.Strong, Value: held, Unit: "share", Source: source.AllTurns.And(source.ThreadState), Origin: "ledger",
				Text: fmt.Sprintf("for %.0f %% of their time its requests had been read, and no thread worked on them, called for them or waited for a lock; it used %.2g CPUs", 100*held, cpu)},
		}
		f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: float64(q.most) / q.rate, Unit: "s",
			Text: fmt.Sprintf("what comes waits for the %d that are open: %s", q.most, units.Lasting(float64(q.most)/q.rate))}
		f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("%s: more workers, or a higher limit, in its configuration; it answers %.3g per second now, and up to %.3g came.", comm, q.rate, q.came),
			Program: "A bound for its queue, with an error for what comes beyond it."}
		f.Next = fmt.Sprintf("its own figures of workers and queues; eu-stack -p %d   # a goroutine dump (SIGQUIT ends the program) or a profile names where requests wait", p.head.Subject.PID)
		return f, true
	}
	return suspect.Finding{}, false
}

// parkedOf is the share of a service's time in which no thread worked for its requests.
func parkedOf(l *ledger.Ledger, pids []int) (share float64, ok bool) {
	for _, party := range l.Parties {
		if party.Role != ledger.Serves || party.Demand <= 0 || !slices.ContainsFunc(party.PIDs, func(pid int) bool { return slices.Contains(pids, pid) }) {
			continue
		}
		for _, e := range party.Entries {
			if e.Account == ledger.Parked {
				share = max(share, e.Seconds/party.Demand)
			}
		}
		ok = true
	}
	return share, ok
}

// cpusOf is how many CPUs the processes of a pool used.
func cpusOf(p *pool) (cpus float64, known bool) {
	for _, w := range append([]*scene.Process{p.head}, p.workers...) {
		first, last := w.Rows[0], w.Rows[len(w.Rows)-1]
		if seconds := last.T.Sub(first.T).Seconds(); seconds >= float64(steadyFor)/2 {
			cpus, known = cpus+(last.CPU-first.CPU)/seconds, true
		}
	}
	if len(p.workers) > 0 && p.workers[0] == p.head { // it was counted twice
		first, last := p.head.Rows[0], p.head.Rows[len(p.head.Rows)-1]
		if seconds := last.T.Sub(first.T).Seconds(); seconds > 0 {
			cpus -= (last.CPU - first.CPU) / seconds
		}
	}
	return cpus, known
}
