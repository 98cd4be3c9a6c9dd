package plan

import (
	"fmt"

	"snag/internal/shown"
)

func (c *checker) leave(p *Plan) {
	l := p.Leave
	if l == nil {
		return
	}
	at := []any{"leave"}
	switch n := count(l.Connections != "", l.Query != "", l.Metrics != nil); {
	case n != 1:
		c.wrong(at, "leave has %d of connections, query and metrics: give one of them", n)
	case l.Query != "" && p.Health.Fleet == nil:
		c.wrong(at, "leave.query is asked of the store of health.fleet, which is missing")
	case l.Then != "" && l.Then != ThenStop && l.Then != ThenGoOn:
		c.wrong(append(at, "then"), "leave.then %q: there are stop and go-on", shown.Text(l.Then))
	case !(l.Most >= 0):
		c.wrong(append(at, "most"), "leave.most %g: how many connections may be left, 0 or more", l.Most)
	case len(p.Drain) == 0:
		c.wrong(at, "leave waits for connections to end, and drain is missing: nothing sends them away")
	case l.Metrics != nil && l.Metrics.Name == "":
		c.wrong(append(at, "metrics"), "leave.metrics has no name: that of the series with the number of connections")
	case l.Timeout.Set && l.Timeout.D == 0:
		c.wrong(append(at, "timeout"), "leave.timeout 0s: more than 0; leave it out for %s", LeaveTimeout)
	}
	if l.Metrics != nil {
		c.url(l.Metrics.URL, "leave.metrics", append(at, "metrics"))
	}
}

func (c *checker) ready(r *Ready) {
	if r == nil {
		return
	}
	at := []any{"ready"}
	if n := count(r.TCP != "", r.HTTP != nil, len(r.Run) > 0); n != 1 {
		c.wrong(at, "ready has %d of tcp, http and run: give one of them", n)
	}
	if r.Timeout.Set && r.Timeout.D == 0 {
		c.wrong(append(at, "timeout"), "ready.timeout 0s: more than 0; leave it out for %s", ReadyTimeout)
	}
	c.run(r.Run, "ready", at)
	c.request(r.HTTP, "ready", at)
}

func (c *checker) health(p *Plan) {
	h := p.Health
	at := []any{"health"}
	some := h.Fleet != nil || len(h.Streams) > 0 || len(h.Checks) > 0
	switch {
	case !some && !h.None:
		c.wrong(at, "health is missing: give fleet, streams or checks; or none: true, if nothing is to be looked at between the steps")
	case some && h.None:
		c.wrong(at, "health has none: true and something to look at: remove one")
	case h.Every.Set && h.Every.D < minEvery:
		c.wrong(append(at, "every"), "health.every %s: at least %s", h.Every.D, minEvery)
	case h.Limit.Set && h.Limit.D == 0:
		c.wrong(append(at, "limit"), "health.limit 0s: how long one answer may take is more than 0")
	}
	if h.Fleet != nil {
		c.url(h.Fleet.URL, "health.fleet", append(at, "fleet"))
	}
	for i, check := range h.Checks {
		place, name := append(at, "checks", i), fmt.Sprintf("health.checks[%d]", i+1)
		if n := count(len(check.Run) > 0, check.HTTP != nil); n != 1 {
			c.wrong(place, "%s has %d of run and http: give one of them", name, n)
		}
		c.run(check.Run, name, place)
		c.request(check.HTTP, name, place)
	}
}

// filled says which placeholder a peer has no value for.
func (c *checker) filled(p *Plan) {
	for i, peer := range p.Peers {
		for _, phase := range Acting {
			for k, a := range p.Actions(phase) {
				if _, err := peer.FillAction(a); err != nil {
					c.wrong([]any{string(phase), k}, "%s[%d]: %v (line %d)", phase, k+1, err, line(c.root, c.peer(i)...))
				}
			}
		}
		l, err := peer.FillLeave(p.Leave)
		if err != nil {
			c.wrong([]any{"leave"}, "leave: %v (line %d)", err, line(c.root, c.peer(i)...))
		} else if l != nil && l.Connections != "" {
			c.hostPort(l.Connections, "leave.connections", "leave", "connections")
		}
		r, err := peer.FillReady(p.Ready)
		if err != nil {
			c.wrong([]any{"ready"}, "ready: %v (line %d)", err, line(c.root, c.peer(i)...))
		} else if r != nil && r.TCP != "" {
			c.hostPort(r.TCP, "ready.tcp", "ready", "tcp")
		}
	}
}

func (c *checker) hostPort(text, name string, at ...any) {
	if host, port := split(text); host == "" || port == "" {
		c.wrong(at, "%s %q: write HOST:PORT", name, shown.Text(text))
	}
}
