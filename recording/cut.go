package recording

import (
	"sort"
	"time"
)

// How long before a time the last row of a thing still tells how it was then. In a ring (snag record)
// processes have rows every 10 s, and so have sockets on which something waits; the other sockets
// have a row at the beginning of each piece, a minute. What stands (Standing) tells until the next.
const (
	carryRows = 21 * time.Second
	carryIdle = 75 * time.Second
)

// Cut is what r tells of the time from one time to another: the rows and samples of that time, the
// events that reach into it, and the last row before it of each process, socket and setting, which
// tells how it began.
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

// cutter takes what lies in a span of time.
type cutter struct {
	from, to Time
	out      *Recording
	last     map[string]Row // of one table, of the time before: by what it describes
	order    []string
	apart    time.Duration // of rows, where the recording was made thinner
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
		case at == 0 || at >= c.from: // tables without times are of all times
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

// before keeps the last row of each thing that is described.
func (c *cutter) before(row Row, at Time) {
	key := Standing(row)
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

// idle tells that nothing waits at a socket: such ones have rows when they change only.
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

// cutSeries takes the points of that time; where that is one alone, or none, the last before it
// too, as a counter tells nothing by one value.
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
