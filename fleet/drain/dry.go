package drain

import (
	"fmt"
	"strings"

	"snag/fleet/drain/plan"
	"snag/internal/units"
)

// Begun says how a plan's peers are grouped.
func Begun(p *plan.Plan) Event {
	var sizes []string
	all := p.Batches()
	for _, peers := range all {
		sizes = append(sizes, fmt.Sprint(len(peers)))
	}
	n := units.Plural(len(all), "batch")
	if len(all) > 1 {
		n = fmt.Sprintf("%d batches", len(all))
	}
	text := fmt.Sprintf("%s in %s (%s)", units.Plural(len(p.Peers), "peer"), n, strings.Join(shortened(sizes), ", "))
	return Event{Event: EvBegun, Text: text}
}

// shortened are the first of many, and how many are left out.
func shortened(all []string) []string {
	const most = 8
	if len(all) <= most {
		return all
	}
	return append(all[:most:most], fmt.Sprintf("and %d more", len(all)-most))
}

// Dry is what a drain would do, step by step, with the commands as they would be run.
func Dry(p *plan.Plan, text func(plan.Action, plan.Phase) string) []Event {
	out := []Event{Begun(p)}
	all := p.Batches()
	for i, peers := range all {
		var names []string
		for _, peer := range peers {
			names = append(names, peer.Name)
		}
		out = append(out, Event{Event: EvBatch, Batch: i + 1, Of: len(all), Peers: names})
		for _, phase := range []plan.Phase{plan.Drain, plan.Leaving, plan.Restart, plan.Answers, plan.Return} {
			for _, peer := range peers {
				out = append(out, dryPhase(p, peer, phase, text)...)
			}
		}
		if p.Pause.D > 0 && i+1 < len(all) {
			out = append(out, Event{Event: EvPause, Seconds: p.Pause.D.Seconds()})
		}
	}
	return out
}

func dryPhase(p *plan.Plan, peer plan.Peer, phase plan.Phase, text func(plan.Action, plan.Phase) string) (out []Event) {
	for _, a := range p.Actions(phase) {
		filled, _ := peer.FillAction(a) // Parse checked it
		out = append(out, Event{Event: EvDid, Peer: peer.Name, Phase: phase, Text: text(filled, phase)})
	}
	if what, most := waitsFor(p, peer, phase); what != "" {
		out = append(out, Event{Event: EvWaits, Peer: peer.Name, Phase: phase, Text: what + ":", Seconds: most})
	}
	return out
}

// waitsFor is what is waited for of a peer in a phase, and for how many seconds at most; "": nothing.
func waitsFor(p *plan.Plan, peer plan.Peer, phase plan.Phase) (string, float64) {
	switch l, r := p.Leave, p.Ready; {
	case phase == plan.Leaving && l != nil:
		l, _ = peer.FillLeave(l)
		what := l.Connections + l.Query
		if l.Metrics != nil {
			what = l.Metrics.Name + " of " + l.Metrics.URL
		}
		return fmt.Sprintf("at most %g connections, by %s", l.Most, what), l.Timeout.Or(plan.LeaveTimeout).Seconds()
	case phase == plan.Answers && r != nil:
		r, _ = peer.FillReady(r)
		what := strings.Join(r.Run, " ")
		switch {
		case r.TCP != "":
			what = "tcp " + r.TCP
		case r.HTTP != nil:
			what = r.HTTP.URL
		}
		return what, r.Timeout.Or(plan.ReadyTimeout).Seconds()
	}
	return "", 0
}
