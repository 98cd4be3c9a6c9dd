package verdict

import (
	"slices"
	"time"

	"snag/recording"
)

// across connects causes on one host with effects on others. Nothing but time ties them:
// an edge needs a coincidence that proves. The same symptom on several hosts is taken
// together: twelve freezes on three of them say more than four on each.
func (g *graph) across(at map[*candidate]*host, where []*host) {
	for _, a := range g.found {
		if len(a.finding.Active) == 0 {
			continue // a state of the whole window coincides with everything
		}
		for _, lead := range a.suspect.LeadsTo {
			var effects []int
			for i, sym := range g.symptoms {
				if where[i] != at[a] && sym.Name == lead.To && len(sym.Active) > 0 {
					effects = append(effects, i)
				}
			}
			g.symptomsAcross(a, at[a], lead.Lag, effects, where)
			for _, b := range g.found {
				if at[b] == at[a] || b.suspect.Name != lead.To || slices.Contains(b.finding.NotBy, a.suspect.Name) {
					continue
				}
				window := common(at[a].s.Window, at[b].s.Window)
				c := Coincide(a.finding.Active, seenIn(starts(b.finding.Active), window), window, lead.Lag)
				if c.hosts, c.lag = 1, max(lead.Lag, sampled); c.Proves() {
					g.add(edge{from: a, to: b, symptom: -1, coincidence: c})
				}
			}
		}
	}
}

// symptomsAcross adds edges to one kind of symptom on other hosts.
func (g *graph) symptomsAcross(a *candidate, home *host, lag time.Duration, effects []int, where []*host) {
	if len(effects) == 0 {
		return
	}
	window := home.s.Window
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
	all := Coincide(a.finding.Active, onsets, window, lag)
	all.hosts, all.lag = len(hosts), max(lag, sampled)
	if !all.Proves() {
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
