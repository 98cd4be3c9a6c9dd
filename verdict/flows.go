package verdict

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
)

// tie is one address that processes of a host ask and a process of another host answers at: both recordings
// have the calls, with the same addresses at both ends.
type tie struct {
	client, server *host
	address        string       // address:port of the server's end
	callers        map[int]bool // processes that ask
	service        []recording.Subject
	took, served   float64 // s of an answer, as the callers and as the server measured
}

// end is what two hosts must agree on: from which address which is asked.
type end struct{ from, to string }

// calls are one host's calls, or what one serves, by their ends.
type calls struct {
	pids   map[int]bool
	netns  uint64
	n, sum float64
}

// callsOf adds up the requests of a recording: what is asked of others, and what it serves.
func callsOf(r *recording.Recording) (asks, serves map[end]*calls) {
	asks, serves = map[end]*calls{}, map[end]*calls{}
	for _, t := range r.Turns {
		at, into := end{recording.Host(t.Local), t.Remote}, asks
		if t.Role == "serve" {
			at, into = end{recording.Host(t.Remote), t.Local}, serves
		}
		if recording.IsUnix(t.Local) || scene.OnLoopback(at.from) || at.from == "" {
			continue
		}
		c := into[at]
		if c == nil {
			c = &calls{pids: map[int]bool{}, netns: t.Netns}
			into[at] = c
		}
		c.n, c.sum = c.n+float64(t.N), c.sum+t.Sum
		for _, pid := range []int{t.PID, t.SlowPID} {
			if pid != 0 {
				c.pids[pid] = true
			}
		}
	}
	return asks, serves
}

// tiesOf are the addresses that one host asks and another answers at. What a host answers itself ties it with nobody:
// hosts of one kind have the same private addresses.
func tiesOf(hosts []*host) (out []*tie) {
	type side struct{ asks, serves map[end]*calls }
	all := map[*host]side{}
	for _, h := range hosts {
		if h.r != nil {
			asks, serves := callsOf(h.r)
			all[h] = side{asks, serves}
		}
	}
	for _, client := range hosts {
		for at, asked := range all[client].asks {
			if all[client].serves[at] != nil {
				continue
			}
			for _, server := range hosts {
				if answered := all[server].serves[at]; answered != nil && server != client {
					out = append(out, newTie(client, server, at, asked, answered))
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b *tie) int {
		return cmp.Or(cmp.Compare(a.client.name, b.client.name), cmp.Compare(a.server.name, b.server.name), cmp.Compare(a.address, b.address))
	})
	return out
}

func newTie(client, server *host, at end, asked, answered *calls) *tie {
	t := &tie{client: client, server: server, address: at.to, callers: asked.pids}
	if asked.n > 0 {
		t.took = asked.sum / asked.n
	}
	if answered.n > 0 {
		t.served = answered.sum / answered.n
	}
	for _, pid := range slices.Sorted(maps.Keys(answered.pids)) {
		t.service = append(t.service, recording.Subject{Kind: recording.KindProcess, PID: pid})
	}
	if l := server.s.ListenerOn(answered.netns, at.to); l != nil {
		t.service = append(t.service, l.Subject)
	}
	return t
}

// servedHere is the share of what an answer takes that the server must have, for the cause to be in it. Where it has
// less, the requests waited before it saw them: in its queue of connections, or on the way.
const servedHere = 0.5

// mayHoldUp reports whether a cause on the server's host is where the callers' time goes: in the service, or before it,
// where those who connect were seen to wait or to fail on that host as well.
func (g *graph) mayHoldUp(t *tie, a *candidate) bool {
	return t.served >= servedHere*t.took || slices.ContainsFunc(g.out[a], func(e edge) bool {
		return e.to == nil && slices.Contains([]string{scene.ConnectLatency, scene.ConnectionErrors}, g.symptoms[e.symptom].Name)
	})
}

// feltByCallers are the symptoms that a service's callers have of it.
var feltByCallers = []string{scene.RequestLatency, scene.ConnectLatency, scene.ConnectionErrors, scene.StreamLate, scene.StreamFreeze}

// waitsThere is the share of its own requests' time from which on a caller is late for the sake of an address.
const waitsThere = 0.3

func leads(s *suspect.Suspect, to ...string) bool {
	return slices.ContainsFunc(to, func(name string) bool {
		_, ok := leadsTo(s, name)
		return ok
	})
}

// byFlows connects causes on one host with effects on others that ask it: both saw the calls, so that time need not tie
// them, and only must not refute them.
func (g *graph) byFlows(hosts []*host, at map[*candidate]*host, where []*host) {
	for _, t := range tiesOf(hosts) {
		for _, a := range g.found {
			if at[a] != t.server || !g.mayHoldUp(t, a) || !leads(a.suspect, feltByCallers...) || !touches(t.server.s, a.finding, t.service) {
				continue
			}
			for _, b := range g.found {
				if at[b] == t.client && slices.Contains(atWhomItAsks, b.suspect.Name) && mentions(b.finding, t.address) && !g.has(a, b, -1) {
					g.addByFlow(t, edge{from: a, to: b, symptom: -1, share: 1}, b.finding.Active)
				}
			}
			for i, sym := range g.symptoms {
				share := t.shareOf(sym)
				if where[i] == t.client && leads(a.suspect, sym.Name) && share >= waitsThere && !g.has(a, nil, i) {
					g.addByFlow(t, edge{from: a, symptom: i, share: share}, sym.Active)
				}
			}
		}
	}
	g.breakLoops()
}

// shareOf is how much of a symptom is waiting for the address.
func (t *tie) shareOf(sym scene.Symptom) float64 {
	switch {
	case !slices.Contains(feltByCallers, sym.Name):
		return 0
	case sym.Subject.Remote == t.address:
		return 1
	case t.callers[sym.Subject.PID]:
		return t.client.l.Waits(sym.Subject.PID, t.address)
	}
	return 0
}

// mentions reports whether a finding is about an address.
func mentions(f suspect.Finding, address string) bool {
	return slices.ContainsFunc(append([]recording.Subject{f.Subject}, f.Related...), func(s recording.Subject) bool {
		return s.Remote == address || s.Kind == recording.KindPeer && s.Remote == recording.Host(address)
	})
}

// addByFlow adds an edge that the times of both hosts do not refute.
func (g *graph) addByFlow(t *tie, e edge, effect []recording.Interval) {
	window := common(t.client.s.Window, t.server.s.Window)
	if window.End <= window.Start {
		return // recorded at different times
	}
	off, known := clocksBetween(t.server, t.client)
	lag := max(soon, time.Duration(t.took*1e9))
	c := coincideWithin(e.from.finding.Active, seenIn(starts(effect), window), window, lag, off)
	c.hosts, c.lag, c.clocks, c.known = 1, lag, off, known
	if known && c.Refutes() {
		return
	}
	e.coincidence = c
	g.add(e)
}
