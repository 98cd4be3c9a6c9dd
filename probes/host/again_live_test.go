package host

import (
	"slices"
	"testing"

	"snag/probes/probe"
)

// Each piece of a ring has the interfaces and queueing disciplines that are there, and not those that have
// gone, also where the interface stays.
func TestInterfacesAreWrittenAgainInEachPiece(t *testing.T) {
	n := namespace(t, "again")
	for _, name := range []string{"stays", "goes"} {
		run(t, "ip", "-n", n.Name, "link", "add", name, "type", "veth", "peer", "name", name+"1")
		run(t, "ip", "-n", n.Name, "link", "set", name, "up")
		run(t, "tc", "-n", n.Name, "qdisc", "replace", "dev", name, "root", "handle", "7:", "tbf", "rate", "1mbit", "burst", "5k", "latency", "50ms")
	}
	p, env, sink := live(t)
	env.Round = &probe.Rotation{}
	written := func() (links, queues []string) {
		r := sink.Recording()
		for _, l := range r.Links {
			if l.Netns == n.ID && len(l.Name) > 3 && l.Name != "stays1" && l.Name != "goes1" {
				links = append(links, l.Name)
			}
		}
		for _, q := range r.Qdiscs {
			if q.Netns == n.ID && q.Kind != "noqueue" {
				queues = append(queues, q.Device+" "+q.Kind+" "+q.Options["rate"])
			}
		}
		return links, queues
	}
	p.tick(0, false)
	p.tick(0, false)
	links, queues := written()
	if len(links) != 2 || len(queues) != 2 {
		t.Fatalf("at first %q, %q", links, queues)
	}
	env.Round.Rotate()
	p.tick(0, false)
	p.tick(0, false)
	if links, queues = written(); len(links) != 4 || len(queues) != 4 || queues[2] != queues[0] && queues[2] != queues[1] {
		t.Errorf("in the next piece too: %q, %q", links, queues)
	}
	run(t, "ip", "-n", n.Name, "link", "del", "goes")
	run(t, "tc", "-n", n.Name, "qdisc", "replace", "dev", "stays", "root", "handle", "8:", "pfifo", "limit", "7")
	env.Round.Rotate()
	p.tick(0, false)
	if links, queues = written(); !slices.Equal(links[4:], []string{"stays"}) || !slices.Equal(queues[4:], []string{"stays pfifo "}) {
		t.Errorf("after they went: %q, %q", links[4:], queues[4:])
	}
	if sp := p.spaces.open[n.ID]; len(sp.linkSeen) != 3 || len(sp.qdiscSeen) > 3 {
		t.Errorf("%d interfaces and %d queues are known: %v", len(sp.linkSeen), len(sp.qdiscSeen), sp.qdiscSeen)
	}
}

// Settings of a namespace that ended are not kept.
func TestSettingsOfANamespaceThatEndedAreForgotten(t *testing.T) {
	n := namespace(t, "sysctlgone")
	p, _, _ := live(t)
	p.tick(0, false)
	known := func() (count int) {
		for key := range p.sysctls.last {
			if key.netns == n.ID {
				count++
			}
		}
		return count
	}
	if known() == 0 {
		t.Fatal("no setting of the namespace was read")
	}
	run(t, "ip", "netns", "del", n.Name)
	p.tick(0, true)
	if left := known(); left != 0 {
		t.Errorf("%d settings are kept", left)
	}
}
