package hosts

import (
	"cmp"
	"slices"
	"time"

	"snag/internal/sorting"
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
	Stream   bool   // From gets a stream from there, and asks nothing
	More     int    // other servers that From waits for, for the same cause
	// Unrecorded: only node_exporter is on To. Lost: From does not wait for it, but loses packets on the way there.
	Unrecorded, Lost bool

	share float64 // of From's answers' time
}

// proved reports whether it names what holds up its victims.
func (c Cause) proved() bool {
	return c.Suspect != "" || c.Server != "" && (c.Host == "" || c.Unrecorded)
}

// key is what tells causes apart.
func (c Cause) key() [4]string { return [4]string{c.Host, c.Suspect, c.Subject, c.Server} }

// mostOfTime is the share of its answers' time from which on calls are what a host waits for.
const mostOfTime = 0.5

// Causes puts the victims together by what holds them up: what is proved first, then what holds up most hosts.
func (f *Fleet) Causes() []Cause {
	by := map[[4]string]*Cause{}
	for _, name := range f.names() {
		h := f.Hosts[name]
		if !h.Chosen || !h.Affected() {
			continue
		}
		cause, way := f.follow(h, nil)
		if !cause.proved() && h.suffersStream() {
			if c, on, ok := f.sentBy(h, nil); ok && !c.Since.After(h.Since.Add(lateNotice)) {
				cause, way = c, on
			}
		}
		key := cause.key()
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
	sorting.By(out, func(a, b Cause) int {
		if a.proved() != b.proved() {
			if a.proved() {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(len(b.Victims), len(a.Victims)), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Suspect, b.Suspect), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Server, b.Server))
	})
	return out
}

// follow goes from a host, to which a way led, to the one that it waits for, until a host's verdict names a cause of
// its own.
func (f *Fleet) follow(h *Host, way []Step) (Cause, []Step) {
	if step, at := f.lostAt(h); at != nil && !left(way, at) {
		return f.follow(at, with(way, step))
	}
	if len(h.failing) > 0 {
		return f.together(h, h.failing, way)
	}
	steps := h.waitsFor()
	switch {
	case len(steps) == 0:
		return h.cause(way), append(slices.Clip(way), f.lostToUnrecorded(h)...)
	case len(steps) == 1:
		return f.over(h, steps[0], way)
	}
	return f.together(h, steps, way)
}

// over goes one step on.
func (f *Fleet) over(h *Host, step Step, way []Step) (Cause, []Step) {
	if f.own(h, step.Server) {
		return h.cause(way), way
	}
	all := f.places(h, step.Server)
	if len(all) == 0 && step.Why == "" { // its calls take most of the time, as they always may: that accuses nobody
		return h.cause(way), way
	}
	if len(all) == 0 {
		return Cause{Server: step.Server, Since: h.Since}, with(way, step)
	}
	next := all[0].host
	step.To = next.Name
	if all[0].server != step.Server {
		step.Behind = all[0].server
	}
	if next.unrecorded() {
		return h.endsAt(next, step, way)
	}
	way = with(way, step)
	if left(way, next) { // they wait for each other
		return Cause{Host: next.Name, Server: step.Server, Since: h.Since}, way
	}
	return f.follow(next, way)
}

// together follows the calls to several servers, of which none takes most of the time, as those of a balancer: where
// one cause is behind so many of them that these do, it is the balancer's. The way is the one that takes most.
func (f *Fleet) together(h *Host, steps []Step, way []Step) (Cause, []Step) {
	type end struct {
		Cause
		way   []Step
		share float64
		n     int
	}
	by := map[[4]string]*end{}
	for _, step := range steps {
		c, on := f.over(h, step, way)
		if !c.proved() {
			continue
		}
		e := by[c.key()]
		if e == nil {
			e = &end{Cause: c, way: on}
			by[c.key()] = e
		}
		e.share, e.n = e.share+step.share, e.n+1
	}
	for _, e := range by {
		if e.share >= mostOfTime {
			on := slices.Clone(e.way)
			on[len(way)].More = e.n - 1
			return e.Cause, on
		}
	}
	return h.cause(way), way
}

// with is a way with one more step; the way itself may go on elsewhere.
func with(way []Step, step Step) []Step { return append(slices.Clip(way), step) }

// left reports whether a way began at a host, or went over it.
func left(way []Step, h *Host) bool {
	return slices.ContainsFunc(way, func(s Step) bool { return s.From == h.Name })
}

// endsAt is the end of a way at a host that only node_exporter is on: what holds up that host is not seen, whatever its
// signs. It is accused as a server on no known host is: where the asking host's verdict names it, and not for the time
// that its calls take.
func (h *Host) endsAt(next *Host, step Step, way []Step) (Cause, []Step) {
	before := way
	step.Unrecorded = true
	way = with(way, step)
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

// waitsFor are the servers that a host waits for: the one that its own verdict names or, without a verdict, the one
// whose calls take most of its answers' time, else those whose calls do together.
func (h *Host) waitsFor() (steps []Step) {
	if len(h.Culprits) > 0 {
		at, away := h.named()
		if !away {
			return nil
		}
		s := Step{From: h.Name, Server: at, Why: h.Culprits[0].Name}
		for _, call := range h.Calls {
			if call.Server == at {
				s.Figures = call.Figures
				break
			}
		}
		return []Step{s}
	}
	for _, c := range h.Calls {
		if c.Share == 0 || c.Rate == 0 {
			continue
		}
		s := Step{From: h.Name, Server: c.Server, Figures: c.Figures, share: c.Share}
		if c.Share >= mostOfTime {
			return []Step{s}
		}
		steps = append(steps, s)
	}
	return steps
}
