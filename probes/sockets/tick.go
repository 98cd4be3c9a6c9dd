package sockets

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"

	"snag/internal/sorting"
	"snag/probes/sockets/diag"
	"snag/recording"
)

const (
	fullEvery = 5                    // ticks between dumps of which every socket may get a row
	cheap     = 5 * time.Millisecond // a full dump that took less is taken every tick
	fullShare = 20                   // full dumps take no more than 1/20 of the time
	rareShare = 500                  // 1/500 of the time in a continuous recording
	mostWatch = 2000                 // sockets that may get a row in one tick between full ones
)

// candidate is a socket of the last dump that may get a row.
type candidate struct {
	level    priority
	followed bool
	wrote    int // tick of its last row, 0: none yet
	index    int
}

// tick is one second: the kernel's tables are swapped, sockets are dumped and
// judged, then what the kernel counted is read with the names of the dump.
func (r *running) tick(late time.Duration, last bool) {
	runtime.LockOSThread() // the CPU time of its thread is the probe's cost
	defer runtime.UnlockOSThread()
	r.ledger.begin()
	r.ticks++
	now, t := time.Now(), r.env.Now()
	anew := r.env.Round.Next(&r.round)
	every := last || anew || r.ticks >= r.nextFull
	r.way.carry(r.env.Watch.TakeCarriers())
	r.allow.tick(period.Seconds())

	suffix, epoch := r.swap()
	r.ledger.charge("sockets.connections")
	everything := every || r.dumped < cheap && !r.env.Continuous || r.way.open(r.env, r.ticks)
	r.look(now, every, everything)
	r.ledger.charge("sockets.diag")
	r.findOwners(now, last)
	r.ledger.charge("sockets.owner")
	r.judge(now, every)
	r.closings(now, everything)
	if every {
		r.countFollowed()
	}
	r.ledger.charge("sockets.diag")
	r.drain(suffix, epoch)
	r.since = t
	r.readOptions()
	r.ledger.charge("sockets.options")
	r.write(last || anew, last)
	r.writeCrowds(every)
	r.ledger.charge("sockets.diag")

	r.ledger.late(late)
	if every && !last {
		r.announce() // what is cut off has the account up to here
	}
	labels := recording.Labels{"probe": probeName}
	r.env.Sink.Sample(t, "snag_probe_cpu_seconds_total", labels, r.ledger.total())
	r.env.Sink.Sample(t, "snag_probe_late_seconds", labels, late.Seconds())
	if late > period/2 {
		r.env.Sink.Append(recording.Event{
			T: t, End: t, Kind: recording.EventObserverLate, Subject: recording.Subject{Kind: recording.KindObserver},
			Attrs: map[string]string{"probe": probeName}, Value: late.Seconds(), Unit: "s",
		})
	}
}

// look dumps, everything or only what is watched.
func (r *running) look(now time.Time, namespaces, everything bool) {
	var wanted map[uint64]map[diag.Kind][][48]byte
	if !everything {
		wanted = r.askFor(now)
	}
	begin := time.Now()
	if err := r.survey.dump(namespaces, wanted); err != nil {
		r.ledger.fail("sockets.diag", err)
		return
	}
	r.ledger.spent("sockets.diag", &r.survey.elsewhere)
	if everything {
		r.dumped = time.Since(begin)
		if namespaces {
			r.nextFull = r.ticks + untilFull(r.dumped, r.env.Ticks(fullEvery), r.env.Continuous)
		}
		clear(r.book.inodes)
	}
	r.noteFound()
}

// untilFull is how many ticks the next dump of everything is away, after one that took so long: the more sockets there
// are, the less often, so that dumps take no more than a share of the time.
func untilFull(took time.Duration, least int, continuous bool) int {
	share := time.Duration(fullShare)
	if continuous {
		share = rareShare
	}
	return max(least, int(share*took/period))
}

// noteFound enters the sockets of a dump. The first name server's has queries measured, and so
// has the first query from a socket that is connected to nobody.
func (r *running) noteFound() {
	for i := range r.survey.found {
		r.book.note(&r.survey.found[i])
	}
	if r.slices != nil && !r.kernel.names && (len(r.book.names) > 0 || r.kernel.asksUnconnected()) {
		r.slices.forNames()
	}
}

func (r *running) findOwners(now time.Time, last bool) {
	inodes := func(yield func(uint64) bool) {
		for i := range r.survey.found {
			if n := r.survey.found[i].Inode; n != 0 && !yield(n) {
				return
			}
		}
	}
	if err := r.book.owners.Refresh(now, last, inodes); err != nil {
		r.ledger.fail("sockets.owner", err)
	}
	for n := range inodes {
		if !r.book.owners.Known(n) {
			r.book.owners.Look(r.env.Watch.PIDs())
			return
		}
	}
}

// judge takes each socket of the dump into its history.
func (r *running) judge(now time.Time, every bool) {
	r.order = r.order[:0]
	for i := range r.survey.found {
		f := &r.survey.found[i]
		s := &f.Socket
		s.Owners = r.book.owners.Of(s.Inode)
		h := r.socks[s.Cookie]
		first := h == nil
		if first {
			h = &history{due: r.ticks + rowWithin}
			r.socks[s.Cookie] = h
		}
		level, why := h.observe(s, first)
		own := r.isOwn(s)
		if first && !own && r.unanswered(s) { // what its threads do reports whether anybody works on it
			for _, o := range s.Owners {
				r.env.Watch.Add(o.PID, fmt.Sprintf("a request on %s has waited %.1f s for its answer", s.Local, s.TCP.LastRcv))
			}
		}
		if own {
			level = quiet
		}
		h.calm = false
		if level < wanted && !own {
			switch {
			case r.held[s.Inode] || r.isNamed(s):
				level = wanted
			case r.isWatched(s):
				h.calm = level == quiet
				level = wanted
			}
		}
		if r.way.follow(s, own) {
			h.calm = false
			level = max(level, wanted)
		}
		if level == suspect {
			h.until = now.Add(stay)
			r.tell(s, &h.last, first)
			for _, o := range s.Owners {
				r.env.Watch.Add(o.PID, why)
			}
		}
		h.last, h.seen, h.level, h.family, h.id = *s, r.ticks, level, f.Family, f.ID
		h.alone = s.Proto == "tcp" && s.State != "LISTEN"
		if every || level > quiet || now.Before(h.until) || h.fresh {
			r.order = append(r.order, candidate{level, h.followed, h.wrote, i})
		}
	}
	for pid := range r.way.pids {
		r.env.Watch.Add(pid, "a stream that snag reads comes from it")
	}
	rank(r.order)
	if !every && len(r.order) > mostWatch {
		r.order = r.order[:mostWatch]
	}
}

// rank puts the most telling first, of those the ones that are followed, and of those the one whose last row is
// oldest: where the allowance is less than what changes, each of them gets its turn.
func rank(order []candidate) {
	sorting.StableBy(order, func(a, b candidate) int {
		switch {
		case a.level != b.level:
			return cmp.Compare(b.level, a.level)
		case a.followed != b.followed:
			if a.followed {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.wrote, b.wrote)
	})
}

// mostFollowed sockets get further rows before others get their first, each one in ten seconds where all change:
// what a row counts are running totals, which say something from the second on.
const mostFollowed = 1500

// follow has a socket followed that has its first row, where there is room.
func (r *running) follow(h *history) {
	if !h.followed && r.followed < mostFollowed {
		h.followed = true
		r.followed++
	}
}

// countFollowed counts those that are left.
func (r *running) countFollowed() {
	r.followed = 0
	for _, h := range r.socks {
		if h.followed {
			r.followed++
		}
	}
}

func (r *running) isOwn(s *recording.Socket) bool {
	return len(s.Owners) > 0 && s.Owners[0].PID == r.env.SelfPID
}

// isNamed reports whether the user asked for this socket.
func (r *running) isNamed(s *recording.Socket) bool {
	t := &r.env.Target
	if t.NetnsID != 0 && s.Netns == t.NetnsID {
		return true
	}
	if t.Port != 0 && atPort(s, strconv.Itoa(t.Port)) {
		return true
	}
	return slices.ContainsFunc(s.Owners, func(o recording.FDRef) bool { return slices.Contains(t.PIDs, o.PID) })
}

// isWatched reports whether a process that holds this socket deserves a closer look.
func (r *running) isWatched(s *recording.Socket) bool {
	return slices.ContainsFunc(s.Owners, func(o recording.FDRef) bool { return r.env.Watch.Has(o.PID) })
}

// write writes the rows that say something new, the most telling first.
// With all, unchanged sockets get a row too; last: there is no later row.
func (r *running) write(all, last bool) {
	for _, c := range r.order {
		s := &r.survey.found[c.index].Socket
		h := r.socks[s.Cookie]
		if h == nil {
			continue
		}
		print := fingerprintOf(s)
		unchanged := h.written == print && idle(s) && !h.fresh
		if unchanged && !all {
			continue
		}
		if !r.allow.take(c.level) {
			if !unchanged && c.level >= wanted && h.isLost(r.ticks, last) {
				r.skipped++
			}
			continue
		}
		if h.options != nil {
			s.Options = h.options
			h.fresh = false
		}
		r.env.Sink.Append(*s)
		h.hasRow(print, r.ticks)
		r.follow(h)
	}
}
