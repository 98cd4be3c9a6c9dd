package oncpu

import (
	"os/exec"
	"runtime"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

// byInformation samples processes with copies of their stacks, half a second of each.
func byInformation(t *testing.T, pids ...int) *recording.Recording {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("for x86-64 only")
	}
	env := probe.Env{Whole: true, Unwind: true, Target: recording.Target{PIDs: pids}}
	return sampleWith(t, env, func() { burn(t, 500*time.Millisecond, pids...) })
}

// Debian's ffmpeg: nothing in it keeps frame pointers, its hottest functions are written
// by hand without call frame information, others have frames of 24 KiB.
func TestFFmpegByCallFrameInformation(t *testing.T) {
	pid := run(t, exec.Command("ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=30",
		"-t", "6000", "-vf", "scale=426:240", "-c:v", "libx264", "-preset", "medium", "-f", "null", "-"))
	time.Sleep(time.Second) // it begins to encode
	r := byInformation(t, pid)
	o := samplesOf(r, pid)
	if o.samples < 20 {
		t.Fatalf("%d samples: too few to tell", o.samples)
	}
	guessed := uint64(0)
	stacks := map[int]recording.Stack{}
	for _, s := range r.Stacks {
		stacks[s.ID] = s
	}
	for _, row := range r.OnCPU {
		if stacks[row.Stack].Guessed > 0 {
			guessed += row.N
		}
	}
	t.Logf("%d samples, %d cut, %d by a guess; in a thread's start or main: %d, %d", o.samples, o.cut, guessed, o.in["start_thread"], o.in["main"])
	if 5*o.cut > o.samples {
		t.Errorf("%d of %d stacks end early", o.cut, o.samples)
	}
	if guessed == 0 {
		t.Error("no stack through hand-written code is said to be a guess")
	}
}

const odd = `
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#define OWN __attribute__((noinline))
#define STAYS __asm__ volatile("")
volatile unsigned long sum;
OWN void spins(void) { for (int i = 0; i < 100000000; i++) sum++; }
OWN void in_handler(int n) { for (;;) spins(); STAYS; (void)n; }
OWN void aligned(int n) { _Alignas(64) char b[256]; memset(b, n, sizeof b); char *more = alloca(n + 100); more[0] = 1; __asm__ volatile("" :: "r"(b), "r"(more)); raise(SIGUSR1); sum += b[3]; }
OWN void aligns(int n) { aligned(n); STAYS; }
OWN void plain(int n) { aligns(n); STAYS; }
int main(int argc, char **argv) { signal(SIGUSR1, in_handler); plain(argc); return 0; }
`

// Through a signal's handler, its trampoline, the C library, a function that aligned its
// stack anew, and one that has taken more of it.
func TestSignalsAndAlignedStacks(t *testing.T) {
	for library, gcc := range map[string]string{"glibc": "gcc", "musl": "musl-gcc"} {
		t.Run(library, func(t *testing.T) {
			if _, err := exec.LookPath(gcc); err != nil {
				t.Fatalf("%s is not here: %v: make setup", gcc, err)
			}
			pid := run(t, exec.Command(compile(t, "p.c", odd, gcc, "-O2", "-fomit-frame-pointer")))
			time.Sleep(200 * time.Millisecond)
			r := byInformation(t, pid)
			o := samplesOf(r, pid)
			for _, f := range []string{"spins", "in_handler", "aligned", "aligns", "plain", "main"} {
				if o.samples < 10 || 10*o.in[f] < 9*o.samples {
					t.Errorf("%s is in %d of %d samples: %v", f, o.in[f], o.samples, o.in)
				}
			}
			if library == "glibc" && 10*o.in["__restore_rt"] < 9*o.samples || 10*o.cut > o.samples {
				t.Errorf("%d of %d cut: %v", o.cut, o.samples, o.in)
			}
		})
	}
}
