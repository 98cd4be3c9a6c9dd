package verdict

import (
	"math"
	"slices"
	"time"

	"snag/recording"
	"snag/scene"
)

// amongFiles connects what several files of one host tell: where none of them shows the
// host's sockets nothing but time ties the process of one with the stream of another.
func (g *graph) amongFiles(r *recording.Recording) {
	if !untied(r, g.scene) {
		return
	}
	h := &host{r: r, s: g.scene}
	at := map[*candidate]*host{}
	for _, c := range g.found {
		at[c] = h
	}
	where := make([]*host, len(g.symptoms))
	for i := range where {
		where[i] = h
	}
	g.across(at, where)
	g.breakLoops()
}

// untied reports whether a recording is of files that don't show who talks to whom.
func untied(r *recording.Recording, s *scene.Scene) bool {
	return len(r.Manifest.Files) > 1 && len(s.Sockets) == 0
}

// across connects causes on one host with effects on others, or told by one file with
// those told by another. Nothing but time ties them: an edge needs a coincidence that
// proves. The same symptom on several hosts is taken together: twelve freezes on three
// of them say more than four on each.
func (g *graph) across(at map[*candidate]*host, where []*host) {
	for _, a := range g.found {
		if len(a.finding.Active) == 0 {
			continue // a state of the whole window coincides with everything
		}
		apart := func(other *host) bool { return other != at[a] || other.r != nil && untied(other.r, other.s) }
		for _, lead := range a.suspect.LeadsTo {
			var effects []int
			for i, sym := range g.symptoms {
				if apart(where[i]) && scene.Meant(lead.To, sym.Name) && len(sym.Active) > 0 && !g.has(a, nil, i) {
					effects = append(effects, i)
				}
			}
			g.symptomsAcross(a, at[a], min(lead.Lag, soon), effects, where)
			for _, b := range g.found {
				if a == b || !apart(at[b]) || b.suspect.Name != lead.To || slices.Contains(b.finding.NotBy, a.suspect.Name) || g.has(a, b, -1) {
					continue
				}
				window := common(a.windowIn(at[a].s), at[b].s.Window)
				lag := min(lead.Lag, soon)
				onsets := seenIn(starts(b.finding.Active), window)
				off, known := clocksBetween(at[a], at[b])
				c := coincideWithin(a.finding.Active, onsets, window, lag, off)
				if at[b] != at[a] {
					c.hosts, c.lag, c.clocks, c.known = 1, max(lag, sampled), off, known
				}
				if c.ties() {
					g.add(edge{from: a, to: b, symptom: -1, coincidence: c})
				} else if off > 0 && Coincide(a.finding.Active, onsets, window, lag).ties() {
					g.cantTell(a, b.finding.Subject.Name, off)
				}
			}
		}
	}
}

// soon is how long after a cause an effect must begin for time alone to tie the two,
// whatever the usual lag is: with a longer one a rhythm of a cause covers everything.
const soon = 2 * time.Second

// tiedByTime is how rarely onsets that had nothing to do with a cause may fall on it as
// often, for time alone to tie what no scene does: many causes are held against many
// effects.
const tiedByTime = 0.01

// ties reports whether the coincidence alone is enough. P, the share of shifts, can't be
// less than the length of one interval in the window; what many onsets say beyond that
// the binomial tail does.
func (c Coincidence) ties() bool { return c.Proves() && c.tail() <= tiedByTime }

// tail is how often as many of the onsets, each by itself, would hit by chance.
func (c Coincidence) tail() float64 {
	n, sum := float64(c.Onsets), 0.0
	for k := c.Hits; k <= c.Onsets; k++ {
		lnChoose, _ := math.Lgamma(n + 1)
		a, _ := math.Lgamma(float64(k) + 1)
		b, _ := math.Lgamma(n - float64(k) + 1)
		sum += math.Exp(lnChoose - a - b + float64(k)*math.Log(c.Covered) + (n-float64(k))*math.Log1p(-c.Covered))
	}
	return sum
}

// has reports whether the graph has that edge.
func (g *graph) has(from, to *candidate, symptom int) bool {
	return slices.ContainsFunc(g.out[from], func(e edge) bool { return e.to == to && (to != nil || e.symptom == symptom) })
}

// symptomsAcross adds edges to one kind of symptom on other hosts.
func (g *graph) symptomsAcross(a *candidate, home *host, lag time.Duration, effects []int, where []*host) {
	if len(effects) == 0 {
		return
	}
	window := a.windowIn(home.s)
	var hosts []*host
	for _, i := range effects {
		if w := common(window, where[i].s.Window); w.End > w.Start {
			window = w
			if !slices.Contains(hosts, where[i]) {
				hosts = append(hosts, where[i])
			}
		}
	}
	var onsets []recording.Time
	var own [][2]int // of each effect, its onsets among all
	for _, i := range effects {
		from := len(onsets)
		if slices.Contains(hosts, where[i]) {
			onsets = append(onsets, seenIn(starts(g.symptoms[i].Active), window)...)
		}
		own = append(own, [2]int{from, len(onsets)})
	}
	off, known := time.Duration(0), true
	for _, h := range hosts {
		d, ok := clocksBetween(home, h)
		off, known = max(off, d), known && ok
	}
	all := coincideWithin(a.finding.Active, onsets, window, lag, off)
	all.lag, all.clocks, all.known = max(lag, sampled), off, known
	for _, h := range hosts {
		if h != home {
			all.hosts++
		}
	}
	if !all.ties() {
		if off > 0 && Coincide(a.finding.Active, onsets, window, lag).ties() {
			g.cantTell(a, g.symptoms[effects[0]].Name+" of "+g.symptoms[effects[0]].Subject.Name, off)
		}
		return
	}
	for n, i := range effects {
		hit := all.hit[own[n][0]:own[n][1]]
		hits := 0
		for _, h := range hit {
			if h {
				hits++
			}
		}
		if hits > 0 && 2*hits >= len(hit) {
			e := edge{from: a, symptom: i, coincidence: all}
			e.coincidence.hit = hit
			g.add(e)
		}
	}
}

// common is the time that two windows share; empty where they share none.
func common(a, b recording.Interval) recording.Interval {
	return recording.Interval{Start: max(a.Start, b.Start), End: min(a.End, b.End)}
}

// seenIn are those of the times that lie in the window.
func seenIn(all []recording.Time, window recording.Interval) (out []recording.Time) {
	for _, t := range all {
		if window.Covers(t) {
			out = append(out, t)
		}
	}
	return out
}
