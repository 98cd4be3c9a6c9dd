package referee

import (
	"fmt"
	"math"
	"slices"
	"time"

	"snag/lab/clientlog"
)

// thing is one of the things that clients notice.
type thing int

const (
	p50 thing = iota
	p99
	failed
	lost
	datagrams
	stream
	silence
	none
)

// of is how much of a thing there is in figures: more is worse. Requests that failed and those
// that were not answered count together, as to fail in another way is no better and no worse.
func (t thing) of(f Figures) float64 {
	switch t {
	case p50:
		return f.P50
	case p99:
		return f.P99
	case failed, lost:
		return f.Failed + f.Lost
	case datagrams:
		return f.DatagramsLost
	case stream:
		return -f.Delivered
	case silence:
		return f.Silence
	}
	return 0 // none: whether there are requests, which measured tells
}

// floor is the difference that two healthy runs may have by themselves.
func (t thing) floor() float64 {
	switch t {
	case p50:
		return p50Most
	case p99:
		return p99Most
	}
	return 0
}

// measured reports whether there is anything in the figures that the thing is of: clients that
// ask no more lose nothing.
func (t thing) measured(f Figures) bool {
	switch t {
	case p50, p99, failed, lost, none:
		return f.Requests > 0
	case datagrams:
		return f.Datagrams > 0
	}
	return true
}

// Healed is what a remedy did to what the clients noticed.
type Healed struct {
	// Harm: there was something to take away. Without it, Removed says nothing.
	Harm bool `json:"harm"`
	// Removed is the share of the harm that is gone, 0 to 1: that of the thing of which the
	// least is gone.
	Removed float64 `json:"removed"`
	Left    string  `json:"left,omitempty"`  // of which thing that is, in words
	Worse   string  `json:"worse,omitempty"` // what is worse than before the remedy, in words
}

// Heal compares what clients measured after a remedy with what they measured before it, while
// the fault was on, and in the healthy run of the same draw.
//
// Of each thing that they noticed, 1 - (after - healthy) / (faulty - healthy) is gone. What
// remains of a time below the floor that stands for two healthy runs is nothing.
//
// Worse is what is worse than in faulty, than in each of others, and than in the healthy run. The
// others are what clients measured at that time without the remedy: many a fault does more harm
// the longer it lasts.
func Heal(healthy, faulty, after Figures, others ...Figures) Healed {
	h := Healed{Removed: 1}
	for _, n := range notices(healthy, faulty) {
		gone := n.gone(healthy, faulty, after)
		if !h.Harm || gone < h.Removed {
			h.Left = fmt.Sprintf("%s; then %s", n.text, n.say(after))
			h.Removed = gone
		}
		h.Harm = true
	}
	if !h.Harm {
		h.Removed = 0
	}
	for _, n := range notices(faulty, after) {
		if !n.unlike(faulty, after) || !noticedAlso(n.thing, healthy, after) {
			continue
		}
		if !slices.ContainsFunc(others, func(o Figures) bool { return !noticedAlso(n.thing, o, after) || !n.unlike(o, after) }) {
			if h.Worse != "" {
				h.Worse += "; "
			}
			h.Worse += n.text
		}
	}
	return h
}

func (t thing) gone(healthy, faulty, after Figures) float64 {
	if !t.measured(after) {
		return 0
	}
	left := t.of(after) - t.of(healthy)
	if left <= t.floor() {
		return 1
	}
	return max(0, 1-left/(t.of(faulty)-t.of(healthy)))
}

// byChance is how many standard errors two shares of requests differ by at most where nothing
// is different.
const byChance = 3

// unlike reports whether a share grew by more than chance: without it, one request in a hundred
// more among as many that failed before is none.
func (t thing) unlike(before, now Figures) bool {
	n, m := float64(before.Requests), float64(now.Requests)
	switch t {
	case datagrams:
		n, m = float64(before.Datagrams), float64(now.Datagrams)
	case failed, lost:
	default:
		return true
	}
	if n == 0 || m == 0 {
		return true
	}
	p := (t.of(before)*n + t.of(now)*m) / (n + m)
	return t.of(now)-t.of(before) > byChance*math.Sqrt(p*(1-p)*(1/n+1/m))
}

func noticedAlso(t thing, before, now Figures) bool {
	for _, n := range notices(before, now) {
		if n.thing == t {
			return true
		}
	}
	return false
}

func (t thing) say(f Figures) string {
	switch t {
	case p50, p99:
		if f.Requests == 0 {
			return "no request"
		}
		return ms(t.of(f))
	case failed, lost:
		return fmt.Sprintf("%.1f %% failed or were not answered", 100*t.of(f))
	case datagrams:
		return fmt.Sprintf("%.1f %%", 100*t.of(f))
	case stream:
		return fmt.Sprintf("%.0f per second", f.Delivered)
	case silence:
		return fmt.Sprintf("%.2f s", f.Silence)
	}
	return fmt.Sprintf("%d requests", f.Requests)
}

// Since leaves out of the logs what their requests waited before that time: those that were
// open then count from there on, as if they had begun then.
func Since(logs []clientlog.Log, t time.Time) []clientlog.Log {
	out := make([]clientlog.Log, len(logs))
	for i, l := range logs {
		l.Requests = append([]clientlog.Request(nil), l.Requests...)
		for j, r := range l.Requests {
			if end := r.Start.Add(r.Length); r.Start.Before(t) && end.After(t) {
				l.Requests[j].Start, l.Requests[j].Length = t, end.Sub(t)
			}
		}
		out[i] = l
	}
	return out
}
