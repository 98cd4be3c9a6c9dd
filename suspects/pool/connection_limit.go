package pool

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var connectionLimit = &suspect.Suspect{
	Name:  "connection-limit",
	Title: "a service has as many connections as it may",
	About: "A limit of the service itself (max_connections, maxclients, worker_connections) is reached: connections are accepted, refused in the protocol's own words, and ended at once, while those that were there before are served as ever. Some services accept no more instead (HAProxy's maxconn): who comes then waits in the kernel's queue though the service has nothing to do. " +
		"The kernel's limits look otherwise: without descriptors nothing is accepted, and a full backlog does not even answer.",
	Needs: []suspect.Need{
		{Measure: "sockets.turns", Must: true, Why: "which connections were answered with an error"},
		{Measure: "sockets.connections", Must: true, Why: "which ended at once"},
		{Measure: "sockets.diag", Must: true, Why: "how many stayed"},
	},
	For: []string{
		"strong: in the seconds in which some answers were errors, as many connections lived under a second as answers were errors",
		"strong: connections are ended within a second before their clients have sent a byte, and strong: others are answered meanwhile",
		"strong: as many connections stayed in each sample, whatever came, or were open at the end of each second in which it turned some away: at the limit",
		"strong: meanwhile others waited to be accepted, and most of those that stayed had no request open",
		"strong: connections waited for 3 s and more and none was taken, while whoever holds the listener waited for work",
		"strong: the processes that it starts for its clients stayed meanwhile, each with one, and no other began",
		"strong, of a name server: some queries have no answer in 5 s, the others have theirs at once; and strong: its socket dropped none, and what it asks others itself is answered",
		"strong: connections waited to be accepted in four of five samples, and a worker of it or more waited for work all the time",
	},
	Against: []string{
		"strong: connections that stay are answered with errors too: a part of the service fails (error-answers)",
		"decisive: the protocol has that error for a request and not for a connection (DRAINING of beanstalkd)",
		"decisive, of one that accepts no more: those that stayed had requests open: who would accept is at work (worker-queue)",
		"weak: none of the addresses that are turned away is ever served: rather a rule that keeps them out (hosts.deny)",
		"can't tell: a limit for each user, which the server reports only after the client has logged in",
	},
	LeadsTo: []suspect.Lead{{To: "listen-overflow", Lag: 10 * time.Second}, {To: scene.ConnectLatency, Lag: 10 * time.Second}, {To: scene.RequestLatency, Lag: 10 * time.Second}, {To: scene.FailedAnswers, Lag: 2 * time.Second}, {To: "error-answers", Lag: 2 * time.Second}, {To: scene.ConnectionErrors, Lag: 5 * time.Second}, {To: "reconnect-storm", Lag: 10 * time.Second}, {To: "peer-reset", Lag: 10 * time.Second}},
	Remedy: suspect.Remedy{
		Permanently: "A larger limit in the service's configuration, if its memory allows. A shorter idle timeout.",
		Program:     "In the clients: fewer connections, or a pool that shares them.",
	},
	Verified:    "connections that come are served, and their count goes over the old limit",
	Next:        "ss -Htn state established '( sport = :PORT )' | awk '{print $4}' | sort | uniq -c   # who holds how many",
	WeighBooked: weighConnectionLimit,
}

const (
	// fewRefusals are one burst of a client.
	fewRefusals = 5
	// alike is how far two counts of the same connections may lie apart: one is made when
	// they end, the other when they are answered.
	alike = 0.25
	// atLimit is by how much the number of those that stay may differ.
	atLimit = 0.05
)

func weighConnectionLimit(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) []suspect.Finding {
	out := append(acceptNoMore(s, r, l), leavesQueries(s, r)...)
	ended := map[scene.NodeID]scene.TurnedAway{}
	for _, t := range scene.TurnedAways(s, r) {
		ended[scene.IDOf(t.Listener)] = t
		out = append(out, turnsAway(s, t))
	}
	for _, v := range scene.Services(s, r, "serve") {
		failed, _, as := v.Failed()
		if failed < fewRefusals || ofRequests(as) || v.Subject.Kind != recording.KindListener || v.Subject.Proto == "unix" { // whose connections are not counted
			continue
		}
		f := atItsLimit(s, r, v, failed, as)
		t, also := ended[scene.IDOf(v.Subject)]
		switch same := func(o suspect.Finding) bool { return scene.IDOf(o.Subject) == scene.IDOf(f.Subject) }; {
		case !also:
			out = append(out, f)
		case failed > t.N && f.Evidence[0].Side == suspect.For: // some had asked before they were turned away
			out = append(slices.DeleteFunc(out, same), f)
		}
	}
	for _, f := range startNoMore(s, r) {
		if !slices.ContainsFunc(out, func(o suspect.Finding) bool { return scene.IDOf(o.Subject) == scene.IDOf(f.Subject) }) {
			out = append(out, f)
		}
	}
	return out
}

// ofRequests tells of an error that its protocol has for a request only: who turns a connection
// away has no word for it there, and closes it.
func ofRequests(as string) bool {
	return slices.ContainsFunc([]string{"beanstalkd ", "Kafka ", "HTTP/2 RST_STREAM", "SIP ", "DNS ", "no DNS "}, func(p string) bool { return strings.HasPrefix(as, p) })
}

func atItsLimit(s *scene.Scene, r *recording.Recording, v *scene.Service, failed float64, as string) suspect.Finding {
	var refusing []recording.Interval // the seconds in which it turns some away
	for _, row := range v.Rows {
		if row.Failed > 0 {
			refusing = append(refusing, measure.OneSecond(row.T))
		}
	}
	short, more := shortWhile(v, refusing, accepted(r, v.Subject))
	if !sameCount(failed, short) && sameCount(failed, more) { // ordinary ones end as soon, and go on meanwhile
		short = more
	}
	f := suspect.Finding{Subject: v.Subject, Next: fmt.Sprintf("ss -Htn state established '( sport = :%s )' | awk '{print $4}' | sort | uniq -c   # who holds how many", recording.Port(v.Subject.Local))}
	ended := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: failed, Unit: "connections", Source: source.FirstBytes.And(source.Connections), Origin: "answers",
		Text: fmt.Sprintf("%s connections ended within a second while it answered with errors, and %s answers were errors (%s)", units.Count(short), units.Count(failed), as)}
	if !sameCount(failed, short) {
		ended.Side = suspect.Against
		ended.Text += ": not the same ones"
		f.Text, f.Evidence = "its errors are not those of connections that are turned away", []suspect.Evidence{ended}
		return f
	}
	refusing = intervals.Merge(refusing, measure.Joined)
	least, most, looks := stayed(s, v.Subject, refusing...)
	kept := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: float64(most), Unit: "connections", Source: source.Of("ss -tn state established"), Origin: "sockets",
		Text: fmt.Sprintf("%s stayed in each of %d samples, %d at the least", units.Plural(most, "connection"), looks, least)}
	if looks >= 3 && most > 0 && float64(most-least) <= max(1, atLimit*float64(most)) {
		kept.Grade = suspect.Strong
	}
	if held, times := filledTo(r, v); most == 0 && times >= 2 {
		most = held
		kept.Grade = suspect.Strong
		kept.Text = fmt.Sprintf("in each of the %d seconds in which it turned some away and none of the others ended, %s of those that came while one looked were open at the end", times, units.Plural(held, "connection"))
		kept.Source = source.Connections
	}
	if looks >= 3 && most == 0 {
		kept.Side, kept.Grade, kept.Text = suspect.Against, suspect.Decisive, fmt.Sprintf("no client's connection stayed from one of %d samples to the next", looks)
	}
	f.Evidence = []suspect.Evidence{ended, kept}
	f.Active = refusing
	f.Text = fmt.Sprintf("it has %s and turned %s away (%s)", units.Plural(most, "connection"), units.Count(failed), as)
	f.Harm = suspect.Harm{Symptom: scene.FailedAnswers, Amount: failed, Of: failed + float64(most), Unit: "connections", Text: f.Text}
	f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("%s: a limit above %d connections in its configuration, if its memory allows.", v.Subject.Comm, most),
		Program: "Clients that share connections."}
	return f
}

// shortWhile is how many connections ended within a second in the seconds in which a service
// turned some away, and how many more than in any second: than in those in which it turned few away.
func shortWhile(v *scene.Service, refusing []recording.Interval, all []recording.Connections) (within, more float64) {
	failed, most := map[int64]float64{}, 0.0
	second := func(t recording.Time) int64 { return int64(t.Sub(v.Rows[0].T).Round(time.Second)) }
	for _, row := range v.Rows {
		failed[second(row.T)] = float64(row.Failed)
		most = max(most, float64(row.Failed))
	}
	var others []float64
	for _, c := range all {
		n := failed[second(c.T)]
		if intervals.Cover(refusing, c.T.Add(time.Second/2)) {
			within += float64(c.Short)
		}
		if c.Opened > 0 && n <= fewTurned*most {
			others = append(others, max(0, float64(c.Short)-n))
		}
	}
	if len(others) < 3 {
		return within, within
	}
	slices.Sort(others)
	return within, max(0, within-others[len(others)/2]*float64(len(refusing)))
}

func sameCount(failed, short float64) bool {
	return failed <= (1+alike)*short && failed >= (1-alike)*short
}

// fewTurned is how much of what it turned away in the worst second it turns away in another at the
// most.
const fewTurned = 0.25

// turnsAway is a service that lets clients in and sends some away unheard.
func turnsAway(s *scene.Scene, t scene.TurnedAway) suspect.Finding {
	port := recording.Port(t.Listener.Local)
	f := suspect.Finding{Subject: t.Listener, Active: t.Active, Next: fmt.Sprintf("ss -Htn state established '( sport = :%s )' | awk '{print $4}' | sort | uniq -c   # who holds how many; then its log", port)}
	f.Text = fmt.Sprintf("it ended %s connections at once, before anything was asked", units.OfAll(t.N, t.Of))
	f.Evidence = []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Value: t.N, Unit: "connections", Source: source.Connections, Origin: "connections",
			Text: fmt.Sprintf("%s connections were ended by it within a second, before their clients had sent a byte", units.OfAll(t.N, t.Of))},
		{Side: suspect.For, Grade: suspect.Strong, Value: t.Answered, Unit: "requests", Source: source.Turns, Origin: "turns",
			Text: fmt.Sprintf("it answered %s requests of others meanwhile: it works, and chooses", units.Count(t.Answered))},
	}
	if t.Kept > 0 {
		f.Text += fmt.Sprintf(", and kept %d", t.Kept)
		f.Evidence[1] = suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(t.Kept), Unit: "connections", Source: source.Of("ss -tn state established"), Origin: "sockets",
			Text: fmt.Sprintf("%s of other clients stayed open throughout, and no request was answered on them", units.Plural(t.Kept, "connection"))}
	} else if t.Known == 0 {
		f.Evidence[1].Grade = suspect.Weak
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Weak, Value: float64(t.Clients), Unit: "addresses", Source: source.Connections, Origin: "addresses",
			Text: "none of the addresses that it turned away was served: rather a rule that keeps them out"})
	}
	if least, most, looks := stayed(s, t.Listener, t.Active...); t.Kept == 0 && looks >= 3 && most > 0 && float64(most-least) <= max(1, atLimit*float64(most)) {
		f.Text += fmt.Sprintf(", and kept %d", most)
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(most), Unit: "connections", Source: source.Of("ss -tn state established"), Origin: "sockets",
			Text: fmt.Sprintf("%s stayed in each of %d samples, %d at the least", units.Plural(most, "connection"), looks, least)})
	}
	f.Harm = suspect.Harm{Symptom: scene.ConnectionErrors, Amount: t.N, Of: t.Of, Unit: "connections", Text: f.Text}
	f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("%s: a larger limit on connections, in all or for one address, in its configuration, if its memory allows.", t.Listener.Comm),
		Program: "Clients that share connections, and come again later when they are turned away."}
	return f
}

// filledTo is how many connections a listener had taken, of those that came within the window,
// at the end of each second in which it answered with errors and only connections that were
// short ended: where that is the same number each time, and at other times fewer are open, it is
// its limit. It reports what looks at the sockets miss, where connections are held for a second
// or two and come again. Times is 0 where the numbers differ.
func filledTo(r *recording.Recording, v *scene.Service) (held, times int) {
	type second struct{ opened, closed, short, failed float64 }
	by := map[int64]*second{}
	at := func(t recording.Time) *second {
		k := int64(t.Sub(r.Manifest.Start).Round(time.Second) / time.Second)
		if by[k] == nil {
			by[k] = &second{}
		}
		return by[k]
	}
	for _, c := range accepted(r, v.Subject) {
		n := at(c.T)
		n.opened, n.closed, n.short = n.opened+float64(c.Opened), n.closed+float64(c.Closed), n.short+float64(c.Short)
	}
	for _, row := range v.Rows {
		at(row.T).failed += float64(row.Failed)
	}
	open, least, most := 0.0, 0.0, 0.0
	var full []float64
	for _, k := range slices.Sorted(maps.Keys(by)) {
		n := by[k]
		open += n.opened - n.closed
		least, most = min(least, open), max(most, open)
		if n.failed >= 1 && n.closed == n.short {
			full = append(full, open)
		}
	}
	if len(full) == 0 || most-least < fewRefusals {
		return 0, 0
	}
	if low := slices.Min(full); most-low > max(1, atLimit*(most-least)) {
		return 0, 0
	}
	return int(most - least), len(full)
}

// accepted are the counts of a listener's connections.
func accepted(r *recording.Recording, listener recording.Subject) (out []recording.Connections) {
	for _, c := range r.Connections {
		if c.Role == "accept" && c.Netns == listener.Netns && recording.Port(c.Local) == recording.Port(listener.Local) {
			out = append(out, c)
		}
	}
	return out
}

// stayed is how many connections of a listener there were at each look, at the least and at
// the most, those left out that came and went between two; in some time only, if there is one.
func stayed(s *scene.Scene, listener recording.Subject, within ...recording.Interval) (least, most, looks int) {
	var all []*scene.Socket
	for _, k := range s.Sockets {
		if k.Listener == nil || k.Listener.ID != scene.IDOf(listener) {
			continue
		}
		if k.Owner() == nil {
			continue // it waits to be accepted
		}
		if k.Peer != nil && k.Peer.Owner() != nil && k.Peer.Owner() == k.Owner() {
			continue // it asks itself, as etcd does for its gateway: that is no client
		}
		all = append(all, k)
	}
	return s.Stayed(all, within...)
}
