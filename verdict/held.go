package verdict

import (
	"fmt"
	"slices"
	"strings"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
)

// addFelt adds to the scene's symptoms the delays that the ledger shows and that whoever
// waits would notice, and returns the delays by the subject of their symptom.
func addFelt(s *scene.Scene, l *ledger.Ledger) map[scene.NodeID][]ledger.Delay {
	out := map[scene.NodeID][]ledger.Delay{}
	for _, d := range l.Felt {
		addDelay(s, d, out)
	}
	return out
}

func addDelay(s *scene.Scene, d ledger.Delay, to map[scene.NodeID][]ledger.Delay) {
	id := scene.IDOf(d.Party.Subject)
	to[id] = append(to[id], d)
	if len(to[id]) > 1 {
		return // the way to a service that is late itself: the greatest comes first
	}
	if i := latencyOf(s, id); i >= 0 {
		s.Symptoms[i].Held = d.Held
		return
	}
	sym := scene.Symptom{Name: scene.RequestLatency, Subject: d.Party.Subject, Onset: s.Window.Start, Active: d.Active,
		Amount: d.Each, Unit: "s", Share: min(1, d.Share), Held: d.Held, Text: delayed(d)}
	if len(d.Active) > 0 {
		sym.Onset = d.Active[0].Start
	}
	s.Symptoms = append(s.Symptoms, sym)
}

// addFaint adds the delays that only a proved cause makes a symptom: where one that was found without
// them is tied to the service, acts from their beginning, and claims most of what is booked.
func addFaint(s *scene.Scene, l *ledger.Ledger, found []*candidate, to map[scene.NodeID][]ledger.Delay) {
	for _, d := range l.Faint {
		id, onset := scene.IDOf(d.Party.Subject), s.Window.Start
		if len(d.Active) > 0 {
			onset = d.Active[0].Start
		}
		proved := slices.ContainsFunc(found, func(c *candidate) bool {
			_, leads := leadsTo(c.suspect, scene.RequestLatency)
			sure, _ := d.Claimed(c.suspect.Claims)
			return leads && sum(sure) >= mostOfFaint && touches(s, c.finding, []recording.Subject{d.Party.Subject}) && c.onset <= onset.Add(slack)
		})
		if proved && len(to[id]) == 0 && latencyOf(s, id) < 0 {
			addDelay(s, d, to)
			l.Felt = append(l.Felt, d)
		}
	}
}

// mostOfFaint is the part of a faint delay that a proved cause must claim.
const mostOfFaint = 0.5

// latencyOf is the symptom of late answers that a subject has already, or -1.
func latencyOf(s *scene.Scene, id scene.NodeID) int {
	for i, sym := range s.Symptoms {
		if sym.Name == scene.RequestLatency && scene.IDOf(sym.Subject) == id {
			return i
		}
	}
	return -1
}

// delayed is a delay in words.
func delayed(d ledger.Delay) string {
	var why []string
	for i, p := range d.By {
		if i == 2 || p.Share < 0.1 {
			break
		}
		why = append(why, p.Account.Words())
	}
	text := fmt.Sprintf("%.2g requests held up at any moment, %.0f %% of their time: %s", d.Held, 100*d.Share, strings.Join(why, ", "))
	switch u := d.Party.Usual; {
	case d.Load != nil:
		text = loadDelayed(d, text)
	case u != nil && u.Objective > 0:
		text = fmt.Sprintf("%.3g %% of the answers take longer than the %s that they may, %s on average (%s)", 100*u.Late, units.Short(u.Objective), units.Short(d.Party.Mean), text)
	case u != nil && u.Times > 0:
		text = fmt.Sprintf("answers take %s, and took %s before, since %s (%s answers; %s)",
			units.Short(d.Party.Mean), units.Short(u.Mean), u.Since.Wall().Format("2006-01-02 15:04 UTC"), units.Count(float64(u.Answered)), text)
	case u != nil:
		text = fmt.Sprintf("answers take %s, %s in the better time (%s)", units.Short(d.Party.Mean), units.Short(u.Mean), text)
	case d.Each > 0:
		text = fmt.Sprintf("answers took %s longer than they need (%s)", units.Short(d.Each), text)
	}
	return text
}

// accounted reports whether the ledger measured the requests that a finding says are late: then
// it knows whether they are, but for answers that are intolerably long anyhow, and for a few that
// are, of a database, and for which no thread works: elsewhere they may be long polls.
func accounted(s *scene.Scene, l *ledger.Ledger, c *candidate) bool {
	if c.finding.Harm.Untimed || slices.ContainsFunc(c.suspect.Needs, func(n suspect.Need) bool { return n.Measure == recording.Compared }) {
		return false // a better time shows that its work takes too long
	}
	if slices.ContainsFunc(c.finding.Evidence, func(e suspect.Evidence) bool { return e.Side == suspect.For && e.Origin == suspect.InStep }) {
		return false // so do other seconds of the same window
	}
	role := ledger.Serves
	if len(c.suspect.Claims) > 0 && !slices.ContainsFunc(c.suspect.Claims, ledger.Account.Inside) {
		role = ledger.Calls // only who calls sees the way
	}
	return slices.ContainsFunc(l.Parties, func(p *ledger.Party) bool {
		return p.Role == role && p.Answered >= 20 && p.Mean < ledger.Intolerable && p.Share(ledger.Unseen) < 0.5 &&
			!(p.Uneven() && p.P99 >= ledger.Intolerable && ledger.LikeDatabase(p.Subject) && slices.Contains(c.suspect.Claims, ledger.Parked)) && touches(s, c.finding, []recording.Subject{p.Subject})
	})
}

// leastBooked is the least share of a delay that makes whoever claims its accounts one of
// its causes.
const leastBooked = 0.05

// booked is the share of a symptom that a suspect can explain: where the ledger has its
// delay, what is booked to the accounts that the suspect claims; otherwise all. What lies
// unread has arrived: no suspect of the way there explains it.
func booked(sus *suspect.Suspect, sym scene.Symptom, delays map[scene.NodeID][]ledger.Delay) float64 {
	if sym.Name == scene.RequestLatency && sym.Side == "read" && len(sus.Claims) > 0 && !slices.ContainsFunc(sus.Claims, ledger.Account.Inside) {
		return 0
	}
	all := delays[scene.IDOf(sym.Subject)]
	if sym.Side == string(ledger.Serves) { // what the service measured itself is no delay of the way to it
		all = slices.DeleteFunc(slices.Clone(all), func(d ledger.Delay) bool { return d.Party.Role != ledger.Serves })
	}
	if sym.Name != scene.RequestLatency || len(all) == 0 || len(sus.Claims) == 0 {
		return 1
	}
	share := 0.0
	for _, d := range all {
		share = max(share, d.Of(sus.Claims)*d.Held/all[0].Held)
	}
	return share
}
