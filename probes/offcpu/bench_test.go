package offcpu

import (
	"context"
	"os/exec"
	"testing"

	"snag/probes/probe/probetest"
)

// BenchmarkPrograms runs programs that switch as often as they can, bare, while another
// process is looked at, while they are themselves, and while every wait counts and each
// has its stacks. What is
// reported is their CPU time as a multiple of bare, with the spread of bare itself.
func BenchmarkPrograms(b *testing.B) {
	for _, c := range []struct {
		name string
		args []string
	}{
		// On one CPU: where two are free the scheduler's choice of them decides.
		{"pipe", []string{"taskset", "-c", "1", program, "pingpong", "100000"}},
		{"tcp", []string{"taskset", "-c", "1", program, "tcp", "50000"}},
		{"futex", []string{"taskset", "-c", "1", program, "futex", "100000"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				bare := took(b, nil, false, c.args)
				other := run(b, "sleep", "1")
				normal := effort{leastThreshold, fullRate}
				for unit, whom := range map[string]func(pid int) (int, effort){
					"×another":    func(int) (int, effort) { return other.pid, normal },
					"×looked-at":  func(pid int) (int, effort) { return pid, normal },
					"×every-wait": func(pid int) (int, effort) { return pid, effort{0, 0} },
				} {
					b.ReportMetric(took(b, whom, true, c.args)/bare, unit)
				}
				b.ReportMetric(took(b, nil, false, c.args)/bare, "×bare-again")
			}
		})
	}
}

// took is the CPU time of the program, seconds, the best of three. whom tells which
// process is looked at, and how closely.
func took(b *testing.B, whom func(pid int) (int, effort), look bool, args []string) float64 {
	best := 0.0
	for range 3 {
		if s := once(b, whom, look, args); best == 0 || s < best {
			best = s
		}
	}
	return best
}

func once(b *testing.B, whom func(pid int) (int, effort), look bool, args []string) float64 {
	c := runCommand(b, exec.Command(args[0], args[1:]...))
	if look {
		pid, e := whom(c.pid)
		sink := probetest.NewSink()
		env := environment(sink)
		env.Closer.Add(pid, "bench")
		r, err := Probe.Start(context.Background(), env)
		if err != nil {
			b.Fatal(err)
		}
		defer r.Stop()
		if !attached(sink) {
			b.Fatal("the probe did not begin to look within 10 s")
		}
		if err := r.(*running).k.set(e); err != nil {
			b.Fatal(err)
		}
	}
	c.begin()
	c.counted(b)
	return c.cpu
}
