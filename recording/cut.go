package recording

import (
	"sort"
	"time"
)

// How old a row may be to describe the start of a range. In a ring (snag record) processes, and sockets
// with a queue, have rows every 10 s; idle sockets have one at the start of each piece, once a minute.
// State rows (StateKey) never expire.
const (
	carryRows = 21 * time.Second
	carryIdle = 75 * time.Second
)

// Cut returns the part of r between two times: its rows and samples, events that overlap it, and the
// last row before it of each process, socket and setting.
func (r *Recording) Cut(from, to Time) *Recording {
	out := &Recording{Dir: r.Dir, Manifest: r.Manifest, Damage: r.Damage}
	out.Manifest.Start, out.Manifest.End, out.Manifest.Written = max(from, r.Manifest.Start), min(to, r.Manifest.End), nil
	c := cutter{from: from, to: to, out: out, last: map[string]Row{}, apart: time.Duration(1.1 * r.Manifest.Step * float64(time.Second))}
	for _, t := range tables {
		c.table(r, t)
	}
	out.Series = cutSeries(r.Series, from, to)
	return out
}

// cutter copies rows of a time range.
type cutter struct {
	from, to Time
	out      *Recording
	last     map[string]Row // last row before the range by key, of one table
	order    []string
	apart    time.Duration // distance of rows in a downsampled recording
}

func (c *cutter) table(r *Recording, t table) {
	clear(c.last)
	c.order = c.order[:0]
	t.each(r, func(row Row) bool {
		at := t.time(row)
		switch e, isEvent := row.(Event); {
		case at > c.to:
		case isEvent:
			if at >= c.from || e.End == 0 || e.End >= c.from {
				t.add(c.out, row)
			}
		case at == 0 || at >= c.from: // rows without a time always count
			t.add(c.out, row)
		default:
			c.before(row, at)
		}
		return true
	})
	for _, key := range c.order {
		t.add(c.out, c.last[key])
	}
	t.tidy(c.out)
}

// before remembers the last row of each key.
func (c *cutter) before(row Row, at Time) {
	key := StateKey(row)
	switch v := row.(type) {
	case Process:
		if c.from.Sub(at) <= max(carryRows, c.apart) {
			key = "process " + keyOf(uint64(v.PID))
		}
	case Socket:
		if c.from.Sub(at) <= max(carryRows, c.apart) || v.idle() && c.from.Sub(at) <= carryIdle {
			key = "socket " + keyOf(v.Netns, v.Inode, v.Cookie) + v.Local + v.Remote
		}
	}
	if key == "" {
		return
	}
	if _, known := c.last[key]; !known {
		c.order = append(c.order, key)
	}
	c.last[key] = row
}

// idle reports that no data waits; idle sockets have rows only when they change.
func (s Socket) idle() bool {
	return s.RecvQ == 0 && (s.State == "LISTEN" || s.SendQ == 0 && (s.Timer == "" || s.Timer == "keepalive"))
}

func keyOf(numbers ...uint64) string {
	b := make([]byte, 0, 8*len(numbers))
	for _, n := range numbers {
		for range 8 {
			b = append(b, byte(n))
			n >>= 8
		}
	}
	return string(b)
}

// cutSeries copies the points in the range. If there is only one, the point before it is added, as a
// single value of a counter has no increase.
func cutSeries(all []Series, from, to Time) []Series {
	var out []Series
	for _, s := range all {
		i := sort.Search(len(s.Points), func(i int) bool { return s.Points[i].T >= from })
		j := sort.Search(len(s.Points), func(i int) bool { return s.Points[i].T > to })
		if j-i < 2 && i > 0 && j > i {
			i--
		}
		if j > i {
			out = append(out, Series{s.Name, s.Labels, s.Points[i:j]})
		}
	}
	return out
}
