package scene

import (
	"fmt"
	"slices"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// A turn is late when it took lateFactor times as long as 99 of 100 in the better
// half of the window, and lateFloor at least: a busy machine of two cores makes
// healthy services of 1 ms wait 20 ms and more now and then for a CPU. Requests
// that take long by design are long in the better half too.
const (
	lateFactor = 4
	lateFloor  = 0.08 // s
	// Of the turns, or of the time spent in turns: a service with few
	// connections makes few turns in a pause, but their time tells.
	lateShare = 0.005
	lateTime  = 0.02
	lostTime  = 1 // s that the late ones took in all, where they are fewer
	fewLate   = 5
	oneLate   = 0.5 // s: then fewer are enough, once seconds are better known
	// Fewer turns than this in the better half are no baseline.
	fewTurns = 20
	// Where episodes cover most seconds the better half has some of them. The best part shows
	// them, if so many are late in the window that by chance each second would have had fewLate.
	// Or of all their time so much: of answers that take seconds few end in the episodes.
	manyLate = 0.1
	mostTime = 0.5
)

// waitFloor: what waited unread this long on average was not read in time, whatever
// the work on it takes. A process that sleeps in epoll reads in microseconds, and
// in some 10 ms where the CPU is scarce.
const waitFloor = 0.05 // s

// lateRequests: answers that came late by the service's own measure (late in the
// window compared with its better part), and requests that their process left
// unread. How long the work takes is by itself no symptom: a long poll, a report.
// Latency that is there from the first second to the last is found by the cause
// that measures it as its harm.
func lateRequests(s *Scene, r *recording.Recording) []Symptom {
	var out []Symptom
	has := map[NodeID]bool{}
	for _, role := range []string{"serve", "call"} {
		for _, v := range Services(s, r, role) {
			id := IDOf(v.Subject)
			if has[id] {
				continue // the other end of the same turns
			}
			sym, ok := v.stuck(s)
			if !ok {
				sym, ok = v.unread(s)
			}
			if !ok {
				sym, ok = v.late(s)
			}
			if !ok {
				sym, ok = v.slowed(s)
			}
			if ok {
				has[id] = true
				if sym.Side == "" {
					sym.Side = role
				}
				out = append(out, onset(sym, s))
			}
		}
	}
	return out
}

func (v *Service) late(s *Scene) (Symptom, bool) {
	if sym, share, ok := v.laterThan(s, v.betterHalf(), "half"); ok && (share >= lateShare || sym.Share >= lateTime && v.lost(sym, share) >= lostTime) {
		return sym, true
	}
	best := v.bestPart()
	sym, share, ok := v.laterThan(s, best, "part")
	return sym, ok && (share >= manyLate || sym.Share >= mostTime) && !slices.ContainsFunc(best, func(row recording.Turns) bool { return float64(row.N)*share < fewLate })
}

// lost is by how much longer the late turns took in all, s.
func (v *Service) lost(sym Symptom, share float64) float64 {
	_, n := mean(v.Rows)
	return sym.Amount * share * float64(n)
}

// laterThan is how many turns were late by what they take in some seconds, and which share of all.
func (v *Service) laterThan(s *Scene, base []recording.Turns, what string) (sym Symptom, share float64, ok bool) {
	hist, n := Histogram(base)
	if n < fewTurns || len(base) < 2 {
		return Symptom{}, 0, false
	}
	p50, p99 := Quantile(hist, n, 0.5), Quantile(hist, n, 0.99)
	bound := max(lateFloor, lateFactor*p99)
	var late, all uint64
	var lateSum, sum, worst float64
	var active []recording.Interval
	var each []float64 // s, of those that were late
	for _, row := range v.Rows {
		all += row.N
		sum += row.Sum
		worst = max(worst, row.Max)
		before, sumBefore := late, lateSum
		for i, c := range row.Hist {
			if recording.TurnBound(i) >= bound {
				late += c
				lateSum += float64(c) * recording.TurnBound(i)
			}
		}
		if late > before {
			// It ended in that second and began so long before.
			i := second(row.T)
			if row.Max > 1 {
				i.Start = max(i.Start.Add(-time.Duration((row.Max-1)*1e9)), s.Window.Start)
			}
			active, each = append(active, i), append(each, lateSum-sumBefore)
		}
	}
	share = float64(late) / float64(all)
	timeShare := lateSum / max(sum, 1e-9)
	if late < fewLate && (late == 0 || worst < oneLate) {
		return Symptom{}, 0, false
	}
	if recording.StandsIn(v.Subject.PID) && v.allAlong(bound, s.Window) {
		return Symptom{}, 0, false
	}
	whole, n := Histogram(v.Rows)
	return Symptom{
		Name: RequestLatency, Subject: v.Subject, Active: mostlyLate(active, each), Amount: lateSum/float64(late) - p50, Unit: "s",
		Share: min(1, max(share, timeShare)),
		Text: fmt.Sprintf("%s of %s answers took over %s, up to %s (p99 %s; in the better %s of the window p50 %s, p99 %s)",
			units.Count(float64(late)), units.Count(float64(all)), units.Short(bound), units.Short(worst),
			units.Short(Quantile(whole, n, 0.99)), what, units.Short(p50), units.Short(p99)),
	}, share, true
}

// mostlyLate puts times together, and leaves out those that have hardly any of what was late where the others have
// nearly all of it: one answer that was late by chance is not when it began.
func mostlyLate(active []recording.Interval, late []float64) []recording.Interval {
	merged := intervals.Merge(active, 0)
	sums, all := make([]float64, len(merged)), 0.0
	for i, a := range active {
		for k, m := range merged {
			if a.Start >= m.Start && a.Start < m.End {
				sums[k] += late[i]
			}
		}
		all += late[i]
	}
	var out []recording.Interval
	kept := 0.0
	for k, m := range merged {
		if sums[k] >= byChance*all {
			out, kept = append(out, m), kept+sums[k]
		}
	}
	if kept < nearlyAllLate*all {
		return merged
	}
	return out
}

const (
	byChance      = 0.02
	nearlyAllLate = 0.9
)

// A service has become slower where answers of some seconds take slowedFactor times as long
// on average as those of its best quarter, and slowedFloor longer; where even the shortest tenth
// of them takes twice as long as nine tenths of those of the best quarter, it is enough to be
// slowedAll longer: a CPU that is scarce now and then makes some answers longer, not all of three
// seconds. Where one in ten takes a multiple of what nearly all did, in three seconds, something that is shorter
// than a second comes again and again.
const (
	slowedFactor = 2.5
	slowedFloor  = 0.05 // s
	slowedAll    = 0.01 // s
	slowedFor    = 3    // seconds
	slowedShare  = 0.1  // of the answers, at the least
	// Of one in ten of them: what takes less than a second is seen of those alone. A program that takes turns on
	// a CPU keeps some of the others waiting for 20 ms.
	tenthFactor = 3
	tenthFloor  = 0.03 // s
)

// slowed: answers that all take longer for a while, none of them much longer than the rest. A
// second in which half of them take what they always do has some long ones among the rest.
func (v *Service) slowed(s *Scene) (Symptom, bool) {
	best := v.bestPart()
	base, n := mean(best)
	if n < fewTurns {
		return Symptom{}, false
	}
	half, most := part(best, 0.5), part(best, 0.9)
	if sym, ok := v.slower(s, base, func(row []recording.Turns, each float64) bool {
		return each >= base+slowedFloor && part(row, 0.5) >= 2*half
	}); ok && part(sym.rows, 0.9) >= 2*most { // or fewer short ones among the long
		return sym.Symptom, true
	}
	if sym, ok := v.slower(s, base, func(row []recording.Turns, each float64) bool {
		return each >= base+slowedAll && part(row, 0.1) >= 2*most
	}); ok && len(sym.rows) >= slowedFor {
		return sym.Symptom, true
	}
	if slices.ContainsFunc(best, func(row recording.Turns) bool { return 0.1*float64(row.N) < fewLate }) {
		return Symptom{}, false // none of these by chance
	}
	longest := part(best, 0.99)
	sym, ok := v.slower(s, base, func(row []recording.Turns, each float64) bool {
		return each >= base+slowedAll && part(row, 0.9) >= max(tenthFactor*longest, longest+tenthFloor)
	})
	return sym.Symptom, ok && len(sym.rows) >= slowedFor
}

// slower are the seconds whose answers take slowedFactor times as long as in the best ones, and
// are slow in another way as well.
func (v *Service) slower(s *Scene, base float64, slow func(row []recording.Turns, each float64) bool) (out slowerSeconds, ok bool) {
	var active []recording.Interval
	for i, row := range v.Rows {
		if each, n := mean(v.Rows[i : i+1]); n > 0 && each >= slowedFactor*base && slow(v.Rows[i:i+1], each) {
			out.rows = append(out.rows, row)
			active = append(active, second(row.T))
		}
	}
	_, all := mean(v.Rows)
	each, n := mean(out.rows)
	out.Symptom = Symptom{
		Name: RequestLatency, Subject: v.Subject, Slowed: true, Active: intervals.Merge(active, 0), Amount: each - base, Unit: "s", Share: float64(n) / max(1, float64(all)),
		Text: fmt.Sprintf("%s of %s answers took %s on average, the others %s", units.Count(float64(n)), units.Count(float64(all)), units.Short(each), units.Short(base)),
	}
	return out, n >= fewTurns && float64(n) >= slowedShare*float64(all)
}

// slowerSeconds is the symptom with its seconds.
type slowerSeconds struct {
	Symptom
	rows []recording.Turns
}

// mean is how long answers took on average, and how many there were.
func mean(rows []recording.Turns) (each float64, n uint64) {
	sum := 0.0
	for _, row := range rows {
		n += row.N
		sum += row.Sum
	}
	return sum / max(1, float64(n)), n
}

func part(rows []recording.Turns, q float64) float64 {
	hist, n := Histogram(rows)
	return Quantile(hist, n, q)
}

// unread: the wait before the process read the first byte.
func (v *Service) unread(s *Scene) (Symptom, bool) {
	var waited, n float64
	var active []recording.Interval
	for _, row := range v.Rows {
		if row.N == 0 || row.Wait/float64(row.N) < waitFloor {
			continue
		}
		waited += row.Wait
		n += float64(row.N)
		active = append(active, second(row.T))
	}
	all, sum := 0.0, 0.0
	for _, row := range v.Rows {
		all += float64(row.N)
		sum += row.Sum
	}
	if n < fewLate || waited < lateTime*sum {
		return Symptom{}, false
	}
	return Symptom{
		Name: RequestLatency, Subject: v.Subject, Active: intervals.Merge(active, 0), Amount: waited / n, Unit: "s", Share: min(1, n/all),
		Text: fmt.Sprintf("%s of %s requests waited unread in the socket buffer for %s on average before the process read their first byte",
			units.Count(n), units.Count(all), units.Short(waited/n)),
	}, true
}
