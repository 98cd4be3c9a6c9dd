package host

import (
	"fmt"
	"testing"

	"snag/probes/probe"
	"snag/recording"
)

// nowhere counts what a sink would get.
type nowhere struct{ samples, rows int }

func (n *nowhere) Sample(recording.Time, string, recording.Labels, float64) { n.samples++ }
func (n *nowhere) Append(recording.Row)                                     { n.rows++ }

// BenchmarkTick is one full second of this machine: every fifth tick looks at
// all processes, every fifteenth at the sysctls, as in a recording.
func BenchmarkTick(b *testing.B) {
	for _, more := range []int{0, 8} {
		b.Run(fmt.Sprintf("%d-more-namespaces", more), func(b *testing.B) {
			for i := range more {
				namespace(b, fmt.Sprintf("b%d-", i))
			}
			p, env, _ := live(b)
			sink := &nowhere{}
			env.Sink = sink
			p.tick(0, false)
			sink.samples, sink.rows = 0, 0
			before, ticks := probe.ThreadCPU()+p.meter.foreign, 0
			b.ReportAllocs()
			for b.Loop() {
				p.tick(0, false)
				ticks++
			}
			cpu := (probe.ThreadCPU() + p.meter.foreign - before) / float64(ticks)
			b.ReportMetric(cpu*1e6, "cpu-µs/op")
			b.ReportMetric(float64(sink.samples)/float64(ticks), "samples/op")
			b.ReportMetric(float64(len(p.processes.known)), "processes")
			for _, name := range measures {
				b.ReportMetric(p.meter.all[name].cost/float64(ticks)*1e6, name[5:]+"-µs")
			}
		})
	}
}
