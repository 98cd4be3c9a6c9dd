package readers

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"snag/internal/units"
	"snag/recording"
)

// tie is what something that two clocks have in common tells of them: how far b's is
// ahead of a's lies between low and high, s. One of both may be infinite.
type tie struct {
	a, b      string
	low, high float64
	by        string // what told it: "24 connections that are on both a.pcap and b.pcap"
}

// compared is how one clock stands to those that it is tied with.
type compared struct {
	shift time.Duration        // to add to its times
	clock *recording.HostClock // nil: it is tied with none
	why   string               // a sentence; "" for the clock that the others are compared with
}

// settle finds what to add to each clock's times so that those that are tied agree with
// the first of them. Clocks whose difference may be none are left as they are: hosts that
// keep time by the network agree better than most ties can tell.
func settle(order []string, ties []tie) map[string]compared {
	out := map[string]compared{}
	ties = joinTies(ties)
	for _, first := range order {
		if _, ok := out[first]; ok {
			continue
		}
		ahead := map[string]float64{first: 0}
		bound := map[string]float64{first: 0}
		reached := []string{first}
		for i := 0; i < len(reached); i++ {
			at := reached[i]
			for _, t := range ties {
				mid, half := (t.low+t.high)/2, (t.high-t.low)/2
				next := t.b
				if t.b == at {
					next, mid = t.a, -mid
				} else if t.a != at {
					continue
				}
				if _, ok := ahead[next]; ok || math.IsInf(half, 0) {
					continue
				}
				ahead[next], bound[next] = ahead[at]+mid, bound[at]+half
				reached = append(reached, next)
				c := compared{clock: &recording.HostClock{Of: first, Bound: bound[next], By: t.by}}
				if d := ahead[next]; math.Abs(d) > bound[next] {
					c.shift = -time.Duration(math.Round(d * 1e9))
					c.why = fmt.Sprintf("its clock is %s %s that of %s, within %s, by %s: its times were moved by %+.6f s",
						lasts(math.Abs(d)), aheadOrBehind(d), first, lasts(bound[next]), t.by, -d)
				} else {
					c.clock.Bound += math.Abs(d)
					c.why = fmt.Sprintf("its clock and that of %s agree within %s, by %s", first, lasts(c.clock.Bound), t.by)
				}
				out[next] = c
			}
		}
		if len(reached) > 1 {
			out[first] = compared{clock: &recording.HostClock{Of: first, By: "the others are compared with it"}}
		}
	}
	oneSided(out, ties)
	return out
}

func lasts(seconds float64) string { return units.Seconds(time.Duration(seconds * 1e9)) }

func aheadOrBehind(d float64) string {
	if d < 0 {
		return "behind"
	}
	return "ahead of"
}

// oneSided says what is known of clocks that only one direction ties.
func oneSided(out map[string]compared, ties []tie) {
	for _, t := range ties {
		c := out[t.b]
		if c.clock != nil || c.why != "" {
			continue
		}
		switch {
		case math.IsInf(t.low, -1) && !math.IsInf(t.high, 1):
			c.why = fmt.Sprintf("its clock is %s that of %s, by %s; how far is not bounded the other way, and nothing was moved (--offset %s=+1.5s)", atMost(t.high), t.a, t.by, t.b)
		case math.IsInf(t.high, 1) && !math.IsInf(t.low, -1):
			c.why = fmt.Sprintf("its clock is %s that of %s, by %s; how far is not bounded the other way, and nothing was moved (--offset %s=+1.5s)", atLeastAhead(t.low), t.a, t.by, t.b)
		default:
			continue
		}
		out[t.b] = c
	}
}

func atMost(high float64) string {
	if high < 0 {
		return "at least " + lasts(-high) + " behind"
	}
	return "at most " + lasts(high) + " ahead of"
}

func atLeastAhead(low float64) string {
	if low < 0 {
		return "at most " + lasts(-low) + " behind"
	}
	return "at least " + lasts(low) + " ahead of"
}

// joinTies makes one of all ties of the same two clocks: where they can all be true
// what they leave together, else the tightest.
func joinTies(all []tie) (out []tie) {
	at := map[[2]string]int{}
	for _, t := range all {
		if t.a == t.b || t.low > t.high || math.IsNaN(t.low) || math.IsNaN(t.high) {
			continue
		}
		if t.a > t.b {
			t.a, t.b, t.low, t.high = t.b, t.a, -t.high, -t.low
		}
		i, ok := at[[2]string{t.a, t.b}]
		if !ok {
			at[[2]string{t.a, t.b}] = len(out)
			out = append(out, t)
			continue
		}
		have := &out[i]
		low, high := math.Max(have.low, t.low), math.Min(have.high, t.high)
		switch {
		case low <= high:
			if !strings.Contains(have.by, t.by) {
				have.by += " and " + t.by
			}
			have.low, have.high = low, high
		case t.high-t.low < have.high-have.low:
			*have = t
		}
	}
	return out
}

// hostClocks knows by which clock each file's times are, and how the clocks compare.
type hostClocks struct {
	asked settings
	of    map[string]string // by path: the host, or the capture whose host nothing tells
	known map[string]compared
	many  bool // there are several
}

// shortHost is a host's name without its domain: files name it with and without.
func shortHost(host string) string {
	short, rest, ok := strings.Cut(host, ".")
	if ok && (short == "" || strings.Trim(host, "0123456789.:") == "" || rest == "") {
		return host
	}
	return short
}

// compareClocks ties the clocks of all files' hosts by what their files have in common.
func compareClocks(ctx context.Context, files []file, times []written, given given, s surveyed, asked settings) hostClocks {
	h := hostClocks{asked: asked, of: map[string]string{}}
	var order []string
	see := func(path, clock string) {
		h.of[path] = clock
		for _, have := range order {
			if have == clock {
				return
			}
		}
		order = append(order, clock)
	}
	captures := map[string]bool{}
	for _, name := range s.names {
		captures[name] = true
	}
	var loose []int
	for i, f := range files {
		switch host := or(asked.hostOf(f.in.Path), times[i].host); {
		case host != "":
			see(f.in.Path, shortHost(host))
		case captures[f.in.Path]:
			see(f.in.Path, f.in.Path)
		default:
			loose = append(loose, i)
		}
	}
	for _, path := range given.recordings {
		if host := or(asked.hostOf(path), given.open[path].Manifest.Host); host != "" && host != "files" {
			see(path, shortHost(host))
		}
	}
	h.known = settle(order, slices.Concat(h.captured(s), h.named(ctx, files), h.recorded(given)))
	h.many = len(order) > 1
	for _, i := range loose {
		if clock, ok := h.beside(times[i], s); ok {
			h.of[files[i].in.Path] = clock
		}
	}
	return h
}

// captured are the ties of captures that share connections.
func (h hostClocks) captured(s surveyed) (ties []tie) {
	if s.path == nil {
		return nil
	}
	for _, p := range s.path.Pairs {
		if c := p.Clock(); c.Known {
			ties = append(ties, tie{a: h.of[p.Path(0)], b: h.of[p.Path(1)], low: c.Ahead - c.Worst, high: c.Ahead + c.Worst,
				by: fmt.Sprintf("%s on both %s and %s", connections(p.Connections()), filepath.Base(p.Path(0)), filepath.Base(p.Path(1)))})
		}
	}
	return ties
}

func connections(n int) string {
	if n == 1 {
		return "1 connection"
	}
	return fmt.Sprintf("%d connections", n)
}

// beside is the clock of a file whose host nothing tells: that of the captures in whose
// time alone it lies, if these are far enough from the others' to tell.
func (h hostClocks) beside(w written, s surveyed) (clock string, ok bool) {
	if s.path == nil || w.first == 0 {
		return "", false
	}
	for _, c := range s.path.Captures {
		if c.First == 0 || w.first > c.Last.Add(near) || max(w.first, w.last) < c.First.Add(-near) {
			continue
		}
		if ok && h.of[c.Path] != clock {
			return "", false
		}
		clock, ok = h.of[c.Path], true
	}
	return clock, ok
}

// offsetOf is what to add to the times of a file: what was asked for, else what its
// clock was found to be off by.
func (h hostClocks) offsetOf(path string) time.Duration {
	if d, ok := h.askedOf(path); ok {
		return d
	}
	c := h.known[h.of[path]]
	if c.clock == nil {
		return 0
	}
	return c.shift + h.base(c.clock.Of)
}

// askedOf is what was asked for of a file, or of its host.
func (h hostClocks) askedOf(path string) (time.Duration, bool) {
	if d, ok := of(h.asked.offsets, path); ok {
		return d, true
	}
	for host, d := range h.asked.offsets {
		if clock := h.of[path]; clock != "" && clock == shortHost(host) {
			return d, true
		}
	}
	return 0, false
}

// oneClock reports whether the times of two files, moved as they are, are of one clock for certain: it
// was asked for of one of them, or both are of one host.
func (h hostClocks) oneClock(a, b string) bool {
	_, first := h.askedOf(a)
	_, second := h.askedOf(b)
	return first || second || h.of[a] != "" && h.of[a] == h.of[b]
}

// base is by how much the clock that others are compared with was asked to be moved.
func (h hostClocks) base(clock string) time.Duration {
	for path, of := range h.of {
		if of == clock {
			if d, ok := h.askedOf(path); ok {
				return d
			}
		}
	}
	return 0
}

const asWasAsked = "as was asked for"

// tell gives a source its offset, and what its clock is known by.
func (h hostClocks) tell(s *source, path string) {
	s.offset = h.offsetOf(path)
	if _, ok := h.askedOf(path); ok {
		s.moved = asWasAsked
		return
	}
	c := h.known[h.of[path]]
	s.clock = c.clock
	switch {
	case c.why != "":
		s.moved = c.why
	case h.many && c.clock == nil && h.of[path] != "":
		s.moved = fmt.Sprintf("nothing that its files and the others' have in common shows how its host's clock and theirs compare: taken as it is (--offset %s=+1.5s)", h.of[path])
	}
}
