package routes

import (
	"testing"

	"snag/internal/nldump"
	"snag/probes/probe"
	"snag/probes/probe/probetest"
)

// BenchmarkVisit is what a quiet namespace costs each second.
func BenchmarkVisit(b *testing.B) {
	n := namespace(b, "b")
	sink := probetest.NewSink()
	env := &probe.Env{Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), Netns: 1, Sink: sink}
	sp := newSpace(n, &shared{env: env, meter: newMeter(env), reply: make([]byte, nldump.ReplyMost), nftables: true, ctnetlink: true})
	sp.visit(true)
	b.ReportAllocs()
	for b.Loop() {
		sp.visit(false)
	}
	b.ReportMetric(sp.meter.foreign/float64(b.N)*1e6, "cpu-µs/op")
}
