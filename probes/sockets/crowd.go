package sockets

import (
	"cmp"
	"os"
	"strconv"
	"strings"

	"snag/internal/sorting"
	"snag/probes/sockets/diag"
	"snag/recording"
)

// crowdMeasures are what is counted in the dumps and has no row a socket.
var crowdMeasures = []string{"sockets.ports", "sockets.half-open"}

const (
	// manyPorts is the least ports in use towards one destination that get a row:
	// pools have tens.
	manyPorts = 50
	// mostCrowds is how many destinations, and listeners, of a namespace get one.
	mostCrowds = 32
	// mostDestinations are counted in a namespace: what comes later is one of many.
	mostDestinations = 20_000
	// fewTimeWait are not worth a dump of their own.
	fewTimeWait = 32
)

// crowd counts the ports in use by destination and the half-open connections by
// listener, a namespace at a time.
type crowd struct {
	ports []recording.Ports
	half  []recording.HalfOpen

	at        recording.Time
	netns     uint64
	listening map[string]bool // ports
	use       map[flowEnd]*recording.Ports
	open      map[string]*recording.HalfOpen
	sources   map[string]map[string]bool
}

// flowEnd is a source address and a destination.
type flowEnd struct{ local, remote string }

func (c *crowd) reset() { c.ports, c.half = c.ports[:0], c.half[:0] }

func (c *crowd) begin(t recording.Time, netns uint64) {
	c.at, c.netns = t, netns
	c.listening = map[string]bool{}
	c.use = map[flowEnd]*recording.Ports{}
	c.open = map[string]*recording.HalfOpen{}
	c.sources = map[string]map[string]bool{}
}

// take counts a socket of a dump and reports whether it gets no row of its own.
// The kernel dumps listeners before all others (net/ipv4/inet_diag.c), so that
// their ports are known.
func (c *crowd) take(f *diag.Found) bool {
	switch {
	case f.Proto != "tcp":
		return false
	case f.State == "LISTEN":
		c.listening[recording.Port(f.Local)] = true
		return false
	case f.State == "SYN_RECV" && f.Inode == 0:
		c.halfOpen(f)
		return true
	}
	c.count(f)
	return false
}

func (c *crowd) halfOpen(f *diag.Found) {
	h := c.open[f.Local]
	if h == nil {
		h = &recording.HalfOpen{T: c.at, Netns: c.netns, Local: f.Local, Remote: f.Remote}
		c.open[f.Local] = h
		c.sources[f.Local] = map[string]bool{}
	}
	h.N++
	if f.Resent > 0 {
		h.Resent++
	}
	if from := c.sources[f.Local]; len(from) < recording.MostSources {
		from[recording.Host(f.Remote)] = true
		h.Sources = len(from)
	}
}

// timeWait counts a connection in TIME-WAIT.
func (c *crowd) timeWait(f diag.Found) {
	if u := c.count(&f); u != nil {
		u.TimeWait++
	}
}

// count counts a port that was chosen for a connection from here: not that of a
// listener, of which each peer has one.
func (c *crowd) count(f *diag.Found) *recording.Ports {
	text := recording.Port(f.Local)
	if f.Remote == "" || c.listening[text] {
		return nil
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil
	}
	k := flowEnd{recording.Host(f.Local), f.Remote}
	u := c.use[k]
	if u == nil {
		if len(c.use) >= mostDestinations {
			return nil
		}
		u = &recording.Ports{T: c.at, Netns: c.netns, Local: k.local, Remote: k.remote, Low: port, High: port}
		c.use[k] = u
	}
	u.InUse++
	u.Low, u.High = min(u.Low, port), max(u.High, port)
	return u
}

// end makes the rows of the namespace, in which connect chooses from so many ports; 0: not known.
func (c *crowd) end(ephemeral int) {
	var ports []recording.Ports
	for _, u := range c.use {
		if u.InUse >= manyPorts || ephemeral > 0 && float64(u.InUse) >= portsUsed*float64(ephemeral) {
			ports = append(ports, *u)
		}
	}
	sorting.By(ports, func(a, b recording.Ports) int {
		return cmp.Or(cmp.Compare(b.InUse, a.InUse), cmp.Compare(a.Remote, b.Remote))
	})
	c.ports = append(c.ports, ports[:min(len(ports), mostCrowds)]...)
	var half []recording.HalfOpen
	for _, h := range c.open {
		half = append(half, *h)
	}
	sorting.By(half, func(a, b recording.HalfOpen) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Local, b.Local))
	})
	c.half = append(c.half, half[:min(len(half), mostCrowds)]...)
	c.use, c.open, c.sources = nil, nil, nil
}

// writeCrowds writes what the last dump of everything counted; ports only when
// TIME-WAIT was looked at as well.
func (r *running) writeCrowds(every bool) {
	if every {
		for _, p := range r.survey.crowd.ports {
			r.env.Sink.Append(p)
		}
	}
	for _, h := range r.survey.crowd.half {
		r.env.Sink.Append(h)
	}
}

// manyTimeWait reports whether the namespace of this thread has enough of them to
// be asked for: sockstat is one line, they may be 30,000.
func manyTimeWait() bool {
	raw, err := os.ReadFile("/proc/thread-self/net/sockstat")
	return err != nil || timeWaiting(string(raw)) >= fewTimeWait
}

// timeWaiting reads "tw" of the line "TCP:" of /proc/net/sockstat.
func timeWaiting(sockstat string) int {
	for _, line := range strings.Split(sockstat, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != "TCP:" {
			continue
		}
		for i := 1; i+1 < len(f); i += 2 {
			if f[i] == "tw" {
				n, _ := strconv.Atoi(f[i+1])
				return n
			}
		}
	}
	return 0
}
