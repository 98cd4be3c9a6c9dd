package report

import (
	"cmp"
	"fmt"
	"slices"

	"snag/internal/shown"
	"snag/internal/sorting"
	"snag/internal/units"
	"snag/recording"
)

// twoSides prints where the time of the slowest requests passed, when both ends of
// their connections were captured.
func (p *page) twoSides(r *recording.Recording) {
	rows := slices.Clone(r.Requests)
	sorting.StableBy(rows, func(a, b recording.Request) int { return cmp.Compare(b.Wait, a.Wait) })
	if len(rows) == 0 {
		return
	}
	all := uint64(0)
	for _, s := range r.RequestSeconds {
		if !s.Connect {
			all += s.N
		}
	}
	to := ""
	if !slices.ContainsFunc(rows, func(q recording.Request) bool { return q.Server != rows[0].Server }) {
		to = " to " + rows[0].Server
	}
	p.add("", p.bold("where requests waited")+p.dim(fmt.Sprintf("  the slowest of %s%s, by the captures of both ends", units.Count(float64(all)), to)))
	p.add(p.dim(fmt.Sprintf("  %-9s%-9s%-9s%-9s%-10s%s", "waited", "way out", "server", "way back", "within", "request")))
	for _, q := range rows[:min(len(rows), p.mostRows())] {
		p.add(shown.Cut(fmt.Sprintf("  %-9s%-9s%-9s%-9s%-10s%s", took(q.Wait), way(q.Out, q), took(q.AtServer), way(q.Back, q), within(q), whatAsked(q, to == "")), p.Width))
	}
}

func way(of *float64, q recording.Request) string {
	if of == nil {
		if q.AtServer >= q.Wait {
			return took(0)
		}
		return "?"
	}
	return took(*of)
}

func within(q recording.Request) string {
	if q.Out == nil {
		return "both " + took(q.Network)
	}
	return "± " + took(q.Bound)
}

func whatAsked(q recording.Request, to bool) string {
	text := clock(q.T) + " " + q.Client
	if to {
		text += " → " + q.Server
	}
	if q.Name != "" {
		text = q.Name + " · " + text
	}
	if hop, ok := slowestHop(q); ok {
		text = fmt.Sprintf("%s between %s and %s · ", took(hop.Network), hop.From, hop.To) + text
	}
	if q.Unanswered != "" {
		text = "no answer (" + q.Unanswered + ") · " + text
	}
	if n := q.LostOut + q.LostBack; n > 0 {
		text = fmt.Sprintf("%d lost · ", n) + text
	}
	return text
}

// slowestHop is where most of the network's time passed, of a request that a capture
// between both ends has as well.
func slowestHop(q recording.Request) (hop recording.Hop, ok bool) {
	for _, h := range q.Hops {
		if h.Network > hop.Network {
			hop = h
		}
	}
	return hop, len(q.Hops) > 1 && 2*hop.Network > q.Network && 4*hop.Network > q.Wait
}

// took is a duration in six characters.
func took(seconds float64) string {
	switch {
	case seconds == 0:
		return "0"
	case seconds < 0.001:
		return fmt.Sprintf("%.0f µs", seconds*1e6)
	case seconds < 1:
		return fmt.Sprintf("%.3g ms", seconds*1e3)
	}
	return fmt.Sprintf("%.2f s", seconds)
}
