// Package routes is the live probe of where packets may go: the routes of every
// network namespace with what the kernel learnt about them, the neighbours that do
// not answer, the firewall rules that drop with their counters, and connection
// tracking. It asks rtnetlink and nfnetlink and reads /proc; it changes nothing,
// and loads no kernel module.
package routes

import (
	"context"
	"strconv"
	"time"

	"snag/internal/kernel"
	"snag/internal/netns"
	"snag/internal/nldump"
	"snag/probes/probe"
	"snag/recording"
)

// Probe is the routes probe.
var Probe = probe.Probe{Name: "routes", Start: start}

// A neighbour is FAILED for seconds only, and the connection tracking table fills
// within one; rules' counters are read beside drops that are counted each second;
// routes are changed by people and daemons.
const (
	period      = time.Second
	everyRules  = 5 * time.Second
	everyTable  = 15 * time.Second
	everySearch = 5 // ticks between searches for namespaces
)

// Bounds that keep the probe below a few thousandths of a core: a reading of a
// namespace without rules takes some 0.1 ms.
const (
	mostSpaces      = 256  // namespaces looked at
	spacesPerSecond = 12   // beyond it they take turns
	mostRoutes      = 2000 // read of one namespace
	mostNeighbours  = 2000
	mostRules       = 10000
	mostRows        = 256 // rows of one table kept for one namespace
)

// prober is the running probe. All but Stop runs on one goroutine that is locked
// to its OS thread, so that the thread's CPU time is the probe's cost.
type prober struct {
	env    *probe.Env
	cancel context.CancelFunc
	done   chan struct{}

	set    netns.Set
	spaces []*space // the own one first, then the target's
	left   int      // namespaces that are not looked at
	next   int
	ticks  int
	meter  *meter
	shared *shared
}

// shared is what all namespaces use one after another.
type shared struct {
	env   *probe.Env
	meter *meter
	reply []byte // a datagram of netlink
	// nf_tables and nf_conntrack_netlink are there to be asked.
	nftables, ctnetlink bool
}

func start(ctx context.Context, env *probe.Env) (probe.Running, error) {
	ctx, cancel := context.WithCancel(ctx)
	m := newMeter(env)
	p := &prober{
		env: env, cancel: cancel, done: make(chan struct{}), meter: m,
		set: netns.Set{Proc: env.Proc, NameDirs: netns.NameDirs, Own: env.Netns, Shared: env.Spaces},
		shared: &shared{env: env, meter: m, reply: make([]byte, nldump.ReplyMost),
			nftables:  kernel.ModuleThere(env.Proc, env.Sys, kernel.Modules(), "nf_tables"),
			ctnetlink: kernel.ModuleThere(env.Proc, env.Sys, kernel.Modules(), "nf_conntrack_netlink")},
	}
	go p.run(ctx)
	return p, nil
}

// Stop takes the last measurement and ends the probe.
func (p *prober) Stop() {
	p.cancel()
	<-p.done
}

func (p *prober) run(ctx context.Context) {
	defer close(p.done)
	p.meter.since = p.env.Now()
	probe.Every(ctx, period, p.meter.work.During(func(late time.Duration) { p.tick(late, p.ticks == 0) }))
	p.meter.work.Begin()
	defer p.meter.work.End()
	p.tick(0, true)
	p.meter.writeCoverage()
}

// tick measures once; all asks for every namespace and everything of it.
func (p *prober) tick(late time.Duration, all bool) {
	p.meter.late(late)
	if p.ticks%p.env.Ticks(everySearch) == 0 || p.set.Stale() {
		p.search()
	}
	p.ticks++
	p.machine()
	for _, sp := range p.due(all) {
		sp.visit(all)
	}
	if p.ticks%int(everyTable/period) == 1 {
		p.meter.writeCoverage() // so that a recording that is cut off has one
	}
	p.meter.writeCost()
}

// search looks for namespaces that came and went.
func (p *prober) search() {
	came, gone, err := p.set.Refresh()
	if err != nil {
		p.meter.noteAll("namespaces that came later were not seen: "+err.Error(), "")
		return
	}
	p.forget(gone)
	for _, n := range came {
		if len(p.spaces) >= mostSpaces {
			p.left++
			continue
		}
		sp := newSpace(n, p.shared)
		switch {
		case n.Own:
			p.spaces = append([]*space{sp}, p.spaces...)
		case n.ID == p.env.Target.NetnsID && len(p.spaces) > 0:
			p.spaces = append(p.spaces[:1:1], append([]*space{sp}, p.spaces[1:]...)...)
		default:
			p.spaces = append(p.spaces, sp)
		}
	}
	if p.left > 0 {
		p.meter.noteAll(strconv.Itoa(p.left)+" namespaces were not looked at: at most "+strconv.Itoa(mostSpaces)+" are", "name the namespace: --netns NAME")
	}
	if n := p.set.Hidden(); n > 0 {
		p.meter.noteAll("the namespaces of "+strconv.Itoa(n)+" processes of other users were not seen", "run as root, or give the binary CAP_SYS_PTRACE and CAP_SYS_ADMIN")
	}
}

func (p *prober) forget(gone []netns.Namespace) {
	dead := map[uint64]bool{}
	for _, n := range gone {
		dead[n.ID] = true
	}
	var left []*space
	for _, sp := range p.spaces {
		if !dead[sp.ID] {
			left = append(left, sp)
		}
	}
	p.spaces = left
}

// due returns the namespaces of this second's turn: the own one and the target's
// each time.
func (p *prober) due(all bool) []*space {
	if all || len(p.spaces) <= spacesPerSecond {
		return p.spaces
	}
	fixed := 0
	for fixed < len(p.spaces) && (p.spaces[fixed].Own || p.spaces[fixed].ID == p.env.Target.NetnsID) {
		fixed++
	}
	out := append([]*space(nil), p.spaces[:fixed]...)
	turns := p.spaces[fixed:]
	for range min(spacesPerSecond, len(turns)) {
		p.next = (p.next + 1) % len(turns)
		out = append(out, turns[p.next])
	}
	p.meter.noteAll(strconv.Itoa(len(turns))+" namespaces take turns: each is read every "+strconv.Itoa((len(turns)+spacesPerSecond-1)/spacesPerSecond)+" s", "name the namespace: --netns NAME")
	return out
}

// machine reads what is one for all namespaces and shown in the first one only:
// the tables of neighbours (net/core/neighbour.c, neigh_table_init).
func (p *prober) machine() {
	for _, table := range []string{"arp_cache", "ndisc_cache"} {
		t := p.env.Now()
		values, err := p.shared.stat("net/stat/" + table)
		if err != nil || values == nil {
			continue // IPv6 may be off, and a container has neither
		}
		for _, field := range []string{"unresolved_discards", "table_fulls"} {
			if v, ok := values[field]; ok {
				p.env.Sink.Sample(t, "snag_neighbour_"+field+"_total", recording.Labels{"table": table}, v)
			}
		}
	}
}
