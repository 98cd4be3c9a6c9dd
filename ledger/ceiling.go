package ledger

import (
	"maps"
	"math"
	"slices"
	"time"

	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
)

// A limit to open calls that shows in no fixed number of connections (HAProxy's maxconn, a pool
// that opens connections when it needs them, or some of whose connections are held and never used)
// is known by what it does: while more requests are open than calls, there are as many calls as
// may be, and no second has more.
const (
	lineOver    = 1.25 // requests to calls, and one request, from which the rest waits for something
	ceilingFrom = 0.8  // of the limit are open on average; of the rest each is between two calls
	ceilingTo   = 1.05 // as the mean of a second is by two clocks
	callsLeast  = 0.3  // calls for a request: fewer are of something else
	callsMost   = 10
	// ceilingsFor seconds are not at the same number by chance.
	ceilingsFor = 3
	// Many threads make a call now and then, and never two at once: a lock is held meanwhile. One
	// thread that makes them all is one worker.
	manyCallers = 3
	// Each request needs the same number of calls, as far as those show that are under way at the
	// ends: others are of something that the process does besides.
	unevenly = 0.15
)

// Callers are the threads of a party that make its calls to an address, as many at a time as may
// be, while requests wait.
type Callers struct {
	Party   *Party
	Address string // that is called
	Threads int    // that were found in the calls
	Active  []recording.Interval
	// Calls that were open then, and requests besides, on average.
	Calls, Waiting float64
}

// ceilings gives the calls of each service room, in the seconds in which they are at a limit. It
// returns those that several threads make one at a time, and those of which as many are made as
// there are threads that make any.
func (c callsOf) ceilings(s *scene.Scene, r *recording.Recording, served []demand) (alone, taken []Callers) {
	for _, v := range scene.Services(s, r, string(Calls)) {
		open, ended := map[int]uint64{}, map[int]uint64{}
		for _, row := range v.Rows {
			at := number(s.Window, row.T)
			open[at] += row.Open
			ended[at] += row.N
		}
		for _, d := range served {
			if !slices.ContainsFunc(d.party.PIDs, func(pid int) bool { return slices.Contains(v.PIDs, pid) }) {
				continue
			}
			to := address(v.Subject)
			if scene.IDOf(d.party.Subject) == scene.IDOf(v.Subject) {
				continue // it asks itself
			}
			limit, full, perAnswer := d.ceiling(c, to, open, ended)
			callers := callersOf(s, r, d.party.PIDs, to)
			most := float64(slices.Max(append(slices.Collect(maps.Values(open)), 0)))
			if limit > 0 && float64(callers) == limit && most == limit && math.Abs(perAnswer-math.Round(perAnswer)) <= unevenly*perAnswer {
				taken = append(taken, c.callers(d, to, full, callers, s.Window, asked{room: limit / float64(len(d.party.PIDs)), taken: true}))
				continue
			}
			if limit == 1 && callers > 0 {
				left := oneLeft(inUse(s, d.party.PIDs, to), full)
				if callers >= manyCallers && len(d.party.PIDs) == 1 && !c.oneConnection(d, to, full) && !left {
					alone = append(alone, c.callers(d, to, full, callers, s.Window, asked{room: 1, locked: true}))
					continue
				}
				if most < manyCallers && !left {
					continue // of fewer threads each is a worker; who has one loop for all has a limit
				}
				// At other times it has several calls open at once: it is no single worker, and of its
				// connections one was left.
			}
			for _, at := range full {
				for _, pid := range v.PIDs {
					if a, ok := c[pid][at][to]; ok && (a.room == 0 || limit < a.room) {
						// Of several processes each has its part, as it has of the calls.
						a.room = limit / float64(len(v.PIDs))
						c[pid][at][to] = a
					}
				}
			}
		}
	}
	return alone, taken
}

// inUse is over how many connections to a destination something was sent, by second.
func inUse(s *scene.Scene, pids []int, to string) map[int]int {
	out := map[int]int{}
	for _, k := range s.Sockets {
		if k.Last().Remote != to || !slices.ContainsFunc(k.Owners, func(p *scene.Process) bool { return slices.Contains(pids, p.Subject.PID) }) {
			continue
		}
		for i := 1; i < len(k.Rows); i++ {
			a, b := k.Rows[i-1], k.Rows[i]
			if a.TCP != nil && b.TCP != nil && b.TCP.BytesSent > a.TCP.BytesSent {
				out[number(s.Window, b.T.Add(-time.Second/2))]++ // it was read at the end of that second
			}
		}
	}
	return out
}

// oneLeft reports that while requests waited all calls went over one connection, and at other times over several: a
// pool has the rest, and somebody holds them. Threads that wait for a lock each have a connection of their own.
func oneLeft(used map[int]int, full []int) bool {
	one, more, others := 0, 0, 0
	for at, n := range used {
		switch {
		case !slices.Contains(full, at):
			others = max(others, n)
		case n == 1:
			one++
		default:
			more++
		}
	}
	return others > 1 && one >= ceilingsFor && one > 2*more
}

// callersOf is how many threads of some processes were found waiting for a destination.
func callersOf(s *scene.Scene, r *recording.Recording, pids []int, to string) int {
	callers := map[int]bool{}
	for _, row := range r.ThreadStates {
		if slices.Contains(pids, row.PID) && placeOf(s, row) == (place{Call, to}) {
			callers[row.TID] = true
		}
	}
	return len(callers)
}

// oneConnection reports that the threads share one: it is that one that they wait for.
func (c callsOf) oneConnection(d demand, to string, full []int) bool {
	return slices.ContainsFunc(full, func(at int) bool { return c[d.party.PIDs[0]][at][to].room == 1 })
}

// callers marks the calls to a destination in the seconds in which they are at a limit, and tells
// of the threads that make them.
func (c callsOf) callers(d demand, to string, full []int, threads int, window recording.Interval, limit asked) Callers {
	out := Callers{Party: d.party, Address: to, Threads: threads}
	for _, at := range slices.Sorted(slices.Values(full)) {
		calls := 0.0
		for _, pid := range d.party.PIDs {
			if a, ok := c[pid][at][to]; ok {
				calls += a.open
				c[pid][at][to] = asked{open: a.open, room: limit.room, locked: limit.locked, taken: limit.taken}
			}
		}
		out.Calls += calls / float64(len(full))
		out.Waiting += (d.seconds[at].open - d.seconds[at].unread - calls) / float64(len(full))
		from := window.Start.Add(time.Duration(at) * time.Second)
		out.Active = append(out.Active, recording.Interval{Start: from, End: from.Add(time.Second)})
	}
	out.Active = intervals.Merge(out.Active, 0)
	return out
}

// ceiling is how many calls to a destination a party can have open, and the seconds in which it
// had, while requests waited; 0: nothing tells of a limit. PerAnswer is how many calls were made for
// one. Open and ended are the destination's calls by second.
func (d demand) ceiling(c callsOf, to string, open, ended map[int]uint64) (limit float64, full []int, perAnswer float64) {
	var waits []int
	looks := map[uint64]int{}
	calls, answers := uint64(0), uint64(0)
	for at, own := range d.seconds {
		all := 0.0
		for _, pid := range d.party.PIDs {
			for _, a := range c[pid][at] {
				all += a.open
			}
		}
		if inside := own.open - own.unread; inside >= max(all+1, lineOver*all) {
			waits = append(waits, at)
			looks[open[at]]++
			calls += ended[at]
			answers += d.party.answers[at]
		}
	}
	most, n := uint64(0), 0
	for k, times := range looks {
		if times > n || times == n && k > most {
			most, n = k, times
		}
	}
	perAnswer = float64(calls) / max(1, float64(answers))
	if most == 0 || 2*n <= len(waits) || perAnswer < callsLeast || perAnswer > callsMost {
		return 0, nil, 0
	}
	limit = float64(most)
	below := 0
	for _, at := range waits {
		mean := 0.0
		for _, pid := range d.party.PIDs {
			mean += c[pid][at][to].open
		}
		if mean <= ceilingTo*limit {
			below++
			if mean >= ceilingFrom*limit {
				full = append(full, at)
			}
		}
	}
	if len(full) < ceilingsFor || 2*below < len(waits) {
		return 0, nil, 0
	}
	return limit, full, perAnswer
}
