package ledger

import (
	"maps"
	"math"
	"slices"
	"sort"
)

// surelyBusy threads on average keep those waiting that wait unread: a fifth of a second, in
// which a look in 20 or two may err.
const surelyBusy = 0.2

// longPause is the part of a second that a pause must have to be what its requests lay
// unread for: where it is shorter, so are they.
const longPause = 0.05

// book books a service's demand, second by second, by what the threads of its processes
// were found in.
func (d demand) book(all looks, still stillness, called callsOf) {
	var seconds []int
	for at := range d.seconds {
		seconds = append(seconds, at)
	}
	sort.Ints(seconds)
	d.looked = slices.ContainsFunc(d.party.PIDs, func(pid int) bool { return len(all[pid]) > 0 })
	d.party.delayed = map[int]float64{}
	defer func() { d.party.Free /= max(1, float64(len(seconds))) }()
	paused, stopped := d.stopsOf(still.paused), d.stopsOf(still.stopped)
	for _, at := range seconds {
		d.party.at = at
		s := d.seconds[at]
		s = d.standsStill(at, s, Pause, paused)
		s = d.standsStill(at, s, Stopped, stopped)
		now := d.threads(at, all)
		if now == nil { // of others it is known whether they wanted a CPU
			part := d.covered(at, still.throttled)
			d.party.add(Entry{Account: Quota, Seconds: s.open * part})
			s.open, s.unread = s.open*(1-part), s.unread*(1-part)
		}
		unread := min(s.unread, s.open)
		if now != nil && d.covered(at, still.stopped) > 0 { // whose time is known
			delete(now.busy, place{account: Stopped})
		}
		now = now.withoutTimers(s.open - d.callsBesides(at, now, called))
		d.party.Free += now.free()
		// A free thread reads at once: what waits unread waits for what those do who would
		// read it. The less they are found at anything, the less is known for what.
		if now != nil {
			unread -= d.line(now, unread*min(1, now.work()/surelyBusy))
			unread -= d.oneWriter(now, unread)
		}
		d.party.add(Entry{Account: Unread, Seconds: unread})
		d.inside(at, s.open-min(s.unread, s.open), now, called)
	}
}

// stillness is when processes did nothing at all, by exact times.
type stillness struct{ paused, stopped, throttled covered }

// covered is the part of a second in which one of the party's processes stood still.
func (d demand) covered(at int, by covered) (part float64) {
	for _, pid := range d.party.PIDs {
		part = max(part, min(1, by[pid][at]))
	}
	return part
}

// standsStill books the part of a second's demand in which a process stood still, and returns what
// is left. What comes meanwhile waits unread until it is over.
func (d demand) standsStill(at int, s second, a Account, by stills) second {
	part := by.before(at+1) - by.before(at)
	if part >= longPause {
		d.party.add(Entry{Account: a, Seconds: min(s.unread, s.open)})
		s.open, s.unread = s.open-min(s.unread, s.open), 0
	}
	still := min(s.open, max(s.open*part, d.while(at, by)))
	d.party.add(Entry{Account: a, Seconds: still})
	if s.open > 0 {
		s.open, s.unread = s.open-still, s.unread*(1-still/s.open)
	}
	return s
}

// threads is what the party's processes did in a second, nil where nobody saw it.
func (d demand) threads(at int, all looks) *doing {
	var now *doing
	for _, pid := range d.party.PIDs {
		one := all[pid][at]
		if one == nil {
			continue
		}
		if now == nil {
			now = newDoing()
		}
		now.looks += one.looks
		now.loops += one.loops
		now.idle += one.idle
		for p, n := range one.busy {
			now.busy[p] += n
		}
		for p, n := range one.spare {
			now.spare[p] += n
		}
	}
	return now
}

// callsBesides is how many calls the party's processes have open in a second, besides those that
// their threads were found waiting for.
func (d demand) callsBesides(at int, now *doing, called callsOf) (open float64) {
	for _, pid := range d.party.PIDs {
		for _, a := range called[pid][at] {
			open += a.open
		}
	}
	if now != nil {
		open -= now.at(Call)
	}
	return max(0, open)
}

// withoutTimers leaves out threads that sleep where other threads and calls account for all
// requests but so many: they do a program's housekeeping.
func (d *doing) withoutTimers(requests float64) *doing {
	if d == nil || d.at(Sleep) == 0 {
		return d
	}
	part := max(0, requests-(d.work()-d.at(Sleep))) / d.at(Sleep)
	if part >= 1 {
		return d
	}
	out := *d
	out.busy = maps.Clone(d.busy)
	for p := range out.busy {
		if p.account == Sleep && part == 0 {
			delete(out.busy, p)
		} else if p.account == Sleep {
			out.busy[p] *= part
		}
	}
	return &out
}

// add books request-seconds by what the busy threads do.
func (d demand) add(now *doing, seconds, inLine float64) {
	busy := now.work()
	for p, n := range now.busy {
		d.party.add(Entry{Account: p.account, Where: p.where, Seconds: seconds * n / busy, InLine: inLine * n / busy, Looks: now.looks})
	}
}

// line books unread requests to what the busy threads do, except while another thread of the
// same pool was free to read them. It returns the request-seconds that it booked.
func (d demand) line(now *doing, seconds float64) (booked float64) {
	busy := now.work()
	for p, n := range now.busy {
		s := seconds * n / busy * now.taken(p)
		d.party.add(Entry{Account: p.account, Where: p.where, Seconds: s, InLine: s, Looks: now.looks})
		booked += s
	}
	return booked
}

// inside books the open requests of a second that were read. Threads that are busy have
// one each; if there are more requests than busy threads, the rest waits in line while all
// of them are busy, and otherwise for what nobody in the process works for: another's
// answer, or nothing that can be seen.
func (d demand) inside(at int, open float64, now *doing, called callsOf) {
	if open <= 0 {
		return
	}
	switch {
	case now == nil && (d.party.Answered == 0 || d.looked): // its calls were seen all the same
		d.outside(at, open, nil, called, 0)
		return
	case now == nil:
		d.party.add(Entry{Account: Unseen, Seconds: open})
		return
	}
	served := min(open, now.work())
	line := (open - served) * now.allBusy()
	if d.party.isDatabase() {
		line = 0
	}
	d.add(now, served+line, line)
	inCalls := 0.0
	if served > 0 {
		inCalls = served * now.at(Call) / now.work()
	}
	d.outside(at, open-served-line, now, called, inCalls)
}

// allBusy is the part of the time in which no thread was free, if each is busy by itself.
func (d *doing) allBusy() float64 {
	busy := d.work()
	workers := busy + d.loops + d.idle
	if workers == 0 {
		return 0
	}
	return math.Pow(busy/workers, max(1, math.Round(workers)))
}

// outside books requests for which no thread of the process works: to the answers that
// the process waits for, as many as it waits for besides those that its threads were found
// waiting for. The rest waits for a connection where the
// process has a fixed number of them and all are in use, and is parked otherwise, or unseen
// where nobody looked at its threads.
func (d demand) outside(at int, rest float64, now *doing, called callsOf, inCalls float64) {
	left, looks := Unseen, uint64(0)
	if now != nil {
		left, looks = Parked, now.looks
	}
	waits := map[string]asked{}
	sum, full := 0.0, 0.0
	for _, pid := range d.party.PIDs {
		for where, a := range called[pid][at] {
			w := waits[where]
			waits[where] = asked{w.open + a.open, w.room + a.room, w.locked || a.locked, w.taken || a.taken}
			sum += a.open
		}
	}
	for _, a := range waits {
		if a.full() {
			full += a.open
		}
	}
	if sum > 0 {
		calls := min(rest, max(0, sum-inCalls))
		line := rest - calls
		for where, a := range waits {
			d.party.add(Entry{Account: Call, Where: where, Seconds: calls * a.open / sum, Looks: looks})
			if a.full() {
				n := line * a.open / full
				if a.locked { // whoever is in the call holds what the others wait for
					d.party.add(Entry{Account: Lock, Where: "held in calls of " + where, Seconds: n, InLine: n, Looks: looks})
					continue
				}
				e := Entry{Account: Call, Where: where, Seconds: n, InLine: n, Looks: looks, pool: int(math.Round(a.room))}
				if a.taken { // they wait for a thread, not for a connection
					e.pool = 0
				}
				d.party.add(e)
			}
		}
		if rest = line; full > 0 {
			rest = 0
		}
	}
	if now != nil {
		rest -= d.oneWriter(now, rest)
	}
	rest = d.party.bookStrangers(d.helped(at, rest))
	d.party.add(Entry{Account: left, Seconds: rest, Looks: looks})
}

// oneWriter books requests to the disk that one thread waits for: where one writes the log for all,
// they wait for the same disk. It returns the request-seconds that it booked.
func (d demand) oneWriter(now *doing, seconds float64) float64 {
	disk := now.at(Disk)
	if disk < oneWrites {
		return 0
	}
	n := seconds * min(1, disk)
	d.party.add(Entry{Account: Disk, Seconds: n, Looks: now.looks}) // more threads would wait for it too
	return n
}

// oneWrites is how much of a second a thread must wait for a disk for those requests to wait for
// it for which nobody works: a database, or etcd, has one thread write and sync the log of all.
const oneWrites = 0.5
