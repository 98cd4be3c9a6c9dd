package oncpu

import (
	"os/exec"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

const within = `
volatile unsigned long sum;
namespace relay {
inline __attribute__((always_inline)) void mix(long n) { for (long i = 0; i < n; i++) sum += i; }
inline __attribute__((always_inline)) void forward(long n) { mix(n); sum++; }
__attribute__((noinline)) void session(long n) { forward(n); sum++; }
}
int main() { for (;;) relay::session(100000); return 0; }
`

// Functions inside of others have frames of their own where they are asked for, and the
// samples are as many.
func TestInlined(t *testing.T) {
	path := compile(t, "p.cc", within, "g++", "-O1", "-g", "-fno-omit-frame-pointer")
	pid := run(t, exec.Command(path))
	for _, asked := range []bool{true, false} {
		env := probe.Env{Whole: true, Inlined: asked, Target: recording.Target{PIDs: []int{pid}}}
		r := sampleWith(t, env, func() { burn(t, 400*time.Millisecond, pid) })
		o := samplesOf(r, pid)
		o.want(t, "relay::session", "main")
		mix, forward := o.in["relay::mix (inlined)"], o.in["relay::forward (inlined)"]
		if asked && (10*mix < 8*o.samples || forward < mix) || !asked && mix+forward > 0 {
			t.Errorf("asked %v: %d samples in mix and %d in forward, of %d: %v", asked, mix, forward, o.samples, o.in)
		}
	}
}
