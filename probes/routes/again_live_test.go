package routes

import (
	"testing"

	"snag/internal/nldump"
	"snag/probes/probe"
	"snag/probes/probe/probetest"
)

// Each piece of a ring has the routes and settings that are there. A route that was deleted is in none
// after it, though its interface stays.
func TestRoutesAreWrittenAgainInEachPiece(t *testing.T) {
	n := namespace(t, "g")
	for _, line := range []string{"route add 10.44.0.0/16 dev lo", "route add 10.45.0.0/16 dev lo", "link add v0 type veth peer name v1"} {
		run(t, "ip -n "+n.Name+" "+line)
	}
	run(t, "ip netns exec "+n.Name+" sysctl -qw net.ipv4.conf.v0.forwarding=1")
	sink := probetest.NewSink()
	env := &probe.Env{Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), Netns: 1, Sink: sink, Round: &probe.Rotation{}}
	sp := newSpace(n, &shared{env: env, meter: newMeter(env), reply: make([]byte, nldump.ReplyMost), nftables: true, ctnetlink: true})
	rows := func(dst string) (count int) {
		for _, row := range sink.Recording().Routes {
			if row.Dst == dst {
				count++
			}
		}
		return count
	}
	const setting = "net.ipv4.conf.v0.forwarding"
	facts := func() (count int) {
		for _, f := range sink.Recording().Facts {
			if f.Name == setting && f.Netns == n.ID {
				count++
			}
		}
		return count
	}
	sp.visit(true)
	env.Round.Rotate()
	sp.visit(true)
	if rows("10.44.0.0/16") != 2 || rows("10.45.0.0/16") != 2 {
		t.Fatalf("in two pieces the routes have %d and %d rows", rows("10.44.0.0/16"), rows("10.45.0.0/16"))
	}
	run(t, "ip -n "+n.Name+" route del 10.45.0.0/16")
	run(t, "ip -n "+n.Name+" link del v0")
	env.Round.Rotate()
	sp.visit(true)
	if rows("10.44.0.0/16") != 3 || rows("10.45.0.0/16") != 2 {
		t.Errorf("after one went they have %d and %d rows", rows("10.44.0.0/16"), rows("10.45.0.0/16"))
	}
	if sp.facts[setting] != "" || facts() != 1 {
		t.Errorf("the interface went: its setting is %q, %d rows", sp.facts[setting], facts())
	}
	run(t, "ip -n "+n.Name+" link add v0 type veth peer name v1")
	run(t, "ip netns exec "+n.Name+" sysctl -qw net.ipv4.conf.v0.forwarding=1")
	sp.visit(true)
	if facts() != 2 {
		t.Errorf("the interface came back, and its setting has %d rows", facts())
	}
}
