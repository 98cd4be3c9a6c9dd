package sockets

import (
	"testing"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

// watchedHost is a probe that knows so many sockets of a watched process.
func watchedHost(continuous bool, calm int) *running {
	r := &running{env: &probe.Env{Continuous: continuous, Watch: probe.NewWatch(1)}, socks: map[uint64]*history{}}
	r.env.Watch.Add(7, "test")
	for i := range calm {
		h := &history{level: wanted, calm: true, alone: true, last: recording.Socket{Proto: "tcp", State: "ESTABLISHED", Owners: []recording.FDRef{{PID: 7}}}}
		r.socks[uint64(1000+i)] = h
	}
	return r
}

// askIn is how many sockets the next tick asks for.
func askIn(r *running, now time.Time) (n int) {
	r.ticks++
	for _, kinds := range r.askFor(now) {
		for _, ids := range kinds {
			n += len(ids)
		}
	}
	return n
}

// Few are asked for every second. Of many on which nothing waits each is asked for once in some
// seconds, and all others every second.
func TestManyCalmSocketsTakeTurns(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		continuous         bool
		calm, once, ticks  int
		leastEach, mostOne int
	}{
		{true, 200, 200, 1, 200, 200},
		{true, 1200, 1200, 5, 200, 260},
		{false, 900, 900, 1, 900, 900},
		{false, 2700, 2700, 3, 850, 950},
	} {
		r := watchedHost(c.continuous, c.calm)
		busy := &history{level: odd, alone: true, last: recording.Socket{Proto: "tcp", State: "ESTABLISHED"}}
		suspected := &history{level: wanted, calm: true, alone: true, until: now.Add(stay), last: busy.last}
		r.socks[1], r.socks[2] = busy, suspected
		askIn(r, now) // the first counts them
		seen := map[uint64]int{}
		for range c.ticks {
			n := askIn(r, now)
			if n-2 < c.leastEach || n-2 > c.mostOne {
				t.Errorf("%+v: %d were asked for in a tick", c, n-2)
			}
			for cookie, h := range r.socks {
				if h.askedFor == r.ticks {
					seen[cookie]++
				}
			}
		}
		if len(seen) != c.once+2 || seen[1] != c.ticks || seen[2] != c.ticks || seen[1000] != 1 {
			t.Errorf("%+v: in %d ticks %d were asked for; the busy one %d times, the suspected one %d, a calm one %d", c, c.ticks, len(seen), seen[1], seen[2], seen[1000])
		}
	}
}

// A socket whose turn it was not is not taken for closed.
func TestWhatWasNotAskedForIsNotGone(t *testing.T) {
	now := time.Now()
	r := watchedHost(true, 1200)
	askIn(r, now)
	askIn(r, now)
	r.survey = &survey{}
	left := 0
	for _, h := range r.socks {
		if h.askedFor != r.ticks {
			left++
		}
	}
	r.closings(now, false)
	if left == 0 || len(r.socks) != left {
		t.Errorf("%d sockets were not asked for, %d are left", left, len(r.socks))
	}
	r.closings(now, true)
	if len(r.socks) != 0 {
		t.Errorf("a full dump had none, and %d are left", len(r.socks))
	}
}

// A quiet socket is asked for as soon as its process is watched.
func TestSocketsOfWhoIsWatchedNow(t *testing.T) {
	now := time.Now()
	r := watchedHost(true, 0)
	r.env.Watch = probe.NewWatch(2)
	r.socks[1] = &history{alone: true, last: recording.Socket{Proto: "tcp", State: "ESTABLISHED", Owners: []recording.FDRef{{PID: 8}}}}
	if n := askIn(r, now); n != 0 {
		t.Errorf("%d were asked for, and nobody is watched", n)
	}
	r.env.Watch.Add(8, "test")
	if n := askIn(r, now); n != 1 {
		t.Errorf("%d were asked for once its process is watched, want 1", n)
	}
}

// Of more sockets than rows are allowed of, each that is followed gets one in turn before any other, and what is
// suspected gets one each tick.
func TestRowsTakeTurns(t *testing.T) {
	const sockets, rows, suspected = 450, 151, 17
	wrote, n := map[int]int{}, map[int]int{}
	for tick := 1; tick <= 3; tick++ {
		var order []candidate
		for i := range sockets {
			c := candidate{level: wanted, followed: i >= 50, wrote: wrote[i], index: i}
			if i == suspected {
				c.level = suspect
			}
			order = append(order, c)
		}
		rank(order)
		for _, c := range order[:rows] {
			wrote[c.index] = tick
			n[c.index]++
		}
	}
	followed := 0
	for i := range n {
		if i >= 50 {
			followed++
		}
	}
	if followed != sockets-50 || len(n) != followed+1 || n[suspected] != 3 {
		t.Errorf("%d of %d sockets have a row, %d of them are followed, the suspected one has %d of 3", len(n), sockets, followed, n[suspected])
	}
}

// A row that has to wait is lost once it has waited for long, once in so many ticks, or at the end.
func TestLateRowsAreLost(t *testing.T) {
	h := &history{due: 1 + rowWithin}
	lost := 0
	for tick := 1; tick <= 3*rowWithin; tick++ {
		if tick == rowWithin-1 {
			h.hasRow(1, tick)
		}
		if h.isLost(tick, false) {
			lost++
		}
	}
	if lost != 2 {
		t.Errorf("%d rows were lost, want 2", lost)
	}
	h.hasRow(1, 100)
	if h.isLost(101, false) || !h.isLost(102, true) {
		t.Error("a change after the last row is lost at the end, and not before")
	}
}

// Only so many are followed, and where one has gone there is room for another.
func TestSomeSocketsAreFollowed(t *testing.T) {
	r := watchedHost(false, mostFollowed+5)
	for _, h := range r.socks {
		r.follow(h)
	}
	if r.countFollowed(); r.followed != mostFollowed {
		t.Errorf("%d are followed, want %d", r.followed, mostFollowed)
	}
	for cookie, h := range r.socks {
		if h.followed {
			delete(r.socks, cookie)
			break
		}
	}
	r.countFollowed()
	for _, h := range r.socks {
		r.follow(h)
	}
	if r.followed != mostFollowed {
		t.Errorf("%d are followed after one had gone, want %d", r.followed, mostFollowed)
	}
}
