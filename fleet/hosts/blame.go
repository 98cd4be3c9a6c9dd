package hosts

import (
	"cmp"
	"slices"
	"time"
)

// Cause is what holds up one host or more, as far as is known.
type Cause struct {
	// Host where it is; "": none of those that are known.
	Host string
	// Suspect and Subject of that host's own verdict; Suspect is "" where its recorder proved none.
	Suspect, Subject string
	// Server is what the last host on the way waits for, where no known host has its address.
	Server string
	// Unrecorded: only node_exporter is on Host, so that the way to it ends at Server.
	Unrecorded bool
	Since      time.Time
	// Victims are the hosts that are affected, each with the way to the cause.
	Victims []Victim
}

// Victim is a host that is affected.
type Victim struct {
	Host    string
	Symptom Named
	Way     []Step // from the host to the cause
}

// Step says that a host waits for another.
type Step struct {
	From, To string // hosts; To is "" of one that is not known
	Server   string // address and port
	Behind   string // the server that Server stands for (NAT, IPVS); "": itself
	Figures         // of the calls, as From measures them; zero: not measured
	Why      string // the suspect of From's verdict that says so; "": its calls take most of its answers' time
	// Unrecorded: only node_exporter is on To. Lost: From does not wait for it, but loses packets on the way there.
	Unrecorded, Lost bool
}

// mostOfTime is the share of its answers' time from which on calls are what a host waits for.
const mostOfTime = 0.5

// Causes puts the victims together by what holds them up: those that hold up most hosts first.
func (f *Fleet) Causes() []Cause {
	by := map[[4]string]*Cause{}
	for _, name := range f.names() {
		h := f.Hosts[name]
		if !h.Chosen || !h.Affected() {
			continue
		}
		cause, way := f.follow(h)
		key := [4]string{cause.Host, cause.Suspect, cause.Subject, cause.Server}
		if by[key] == nil {
			by[key] = &cause
		}
		v := Victim{Host: name, Way: way}
		if len(h.Symptoms) > 0 {
			v.Symptom = h.Symptoms[0]
		}
		by[key].Victims = append(by[key].Victims, v)
	}
	var out []Cause
	for _, c := range by {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(len(b.Victims), len(a.Victims)), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Suspect, b.Suspect), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Server, b.Server))
	})
	return out
}

// follow goes from a host to the one that it waits for, until a host's verdict names a cause of its own.
func (f *Fleet) follow(h *Host) (Cause, []Step) {
	var way []Step
	been := map[string]bool{}
	for {
		been[h.Name] = true
		if step, at := f.lostAt(h); at != nil && !been[at.Name] {
			way, h = append(way, step), at
			continue
		}
		step, waits := h.waitsFor()
		if !waits || f.own(h, step.Server) {
			return h.cause(way), append(way, f.lostToUnrecorded(h)...)
		}
		all := f.places(h, step.Server)
		if len(all) == 0 && step.Why == "" { // its calls take most of the time, as they always may: that accuses nobody
			return h.cause(way), way
		}
		if len(all) == 0 {
			way = append(way, step)
			return Cause{Server: step.Server, Since: h.Since}, way
		}
		next := all[0].host
		step.To = next.Name
		if all[0].server != step.Server {
			step.Behind = all[0].server
		}
		if next.unrecorded() {
			return h.endsAt(next, step, way)
		}
		way = append(way, step)
		if been[next.Name] { // they wait for each other
			return Cause{Host: next.Name, Server: step.Server, Since: h.Since}, way
		}
		h = next
	}
}

// endsAt is the end of a way at a host that only node_exporter is on: what holds up that host is not seen, whatever its
// signs. It is accused as a server on no known host is: where the asking host's verdict names it, and not for the time
// that its calls take.
func (h *Host) endsAt(next *Host, step Step, way []Step) (Cause, []Step) {
	before := way
	step.Unrecorded = true
	way = append(way, step)
	switch step.Why {
	case "":
		return h.cause(before), way
	case refused:
		c := next.cause(way)
		c.Since, c.Unrecorded = h.Since, true
		return c, way
	}
	return Cause{Host: next.Name, Server: cmp.Or(step.Behind, step.Server), Unrecorded: true, Since: h.Since}, way
}

// refused is the suspect of a caller on whose server's port nobody listens.
const refused = "upstream-refused"

// cause is what is at a host, at the end of a way to it.
func (h *Host) cause(way []Step) Cause {
	c := Cause{Host: h.Name, Since: h.Since}
	if len(h.Culprits) > 0 {
		c.Suspect, c.Subject = h.Culprits[0].Name, h.Culprits[0].Subject
	} else if n := len(way); n > 0 && way[n-1].Why == refused { // who has ended has no incident
		c.Suspect, c.Subject = refused, cmp.Or(way[n-1].Behind, way[n-1].Server)
	}
	return c
}

// named is the server that a host's own verdict names as what it waits for.
func (h *Host) named() (at string, away bool) {
	if len(h.Culprits) == 0 {
		return "", false
	}
	at = h.Culprits[0].Beyond
	return at, at != ""
}

// waitsFor is the server that a host waits for: by its own verdict or, without one, by the time that its calls take.
func (h *Host) waitsFor() (Step, bool) {
	if len(h.Culprits) > 0 {
		at, away := h.named()
		if !away {
			return Step{}, false
		}
		s := Step{From: h.Name, Server: at, Why: h.Culprits[0].Name}
		for _, call := range h.Calls {
			if call.Server == at {
				s.Figures = call.Figures
				break
			}
		}
		return s, true
	}
	for _, c := range h.Calls {
		if c.Most && c.Rate > 0 {
			return Step{From: h.Name, Server: c.Server, Figures: c.Figures}, true
		}
	}
	return Step{}, false
}
