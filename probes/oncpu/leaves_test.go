package oncpu

import (
	"os/exec"
	"runtime"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

// Each thread spends its time in a function of a C library that keeps no frame
// pointers, called by a function of the program that does.
const leaves = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define OWN __attribute__((noinline))
#define STAYS __asm__ volatile("")
static char from[1 << 16], to[1 << 16];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
OWN void copies(void) { for (int i = 0; i < 1000; i++) { memcpy(to, from, sizeof to); STAYS; } }
OWN void reads(void) { int fd = open("/dev/zero", 0); for (int i = 0; i < 1000; i++) { read(fd, to, sizeof to); STAYS; } close(fd); }
OWN void locks(void) { for (int i = 0; i < 100000; i++) { pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex); STAYS; } }
OWN void prints(void) { for (int i = 0; i < 10000; i++) { snprintf(to, sizeof to, "%d %s %f", i, "relay", i / 3.0); STAYS; } }
OWN void allocates(void) { for (int i = 0; i < 10000; i++) { void *volatile p = malloc(4000); free(p); STAYS; } }
OWN void sorts(void) { int n[200]; for (int k = 0; k < 50; k++) { for (int i = 0; i < 200; i++) n[i] = i * 7919 % 200; qsort(n, 200, sizeof *n, compare); STAYS; } }
OWN void serve(void (*f)(void)) { for (;;) { f(); STAYS; } }
int main(int argc, char **argv) {
  void (*all[])(void) = {copies, reads, locks, prints, allocates, sorts};
  serve(all[atoi(argv[1])]);
}
`

var callers = []string{"copies", "reads", "locks", "prints", "allocates", "sorts"}

func TestCallersOfTheCLibrary(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("C libraries of arm64 keep frame records")
	}
	for library, gcc := range map[string]string{"glibc": "gcc", "musl": "musl-gcc"} {
		t.Run(library, func(t *testing.T) {
			if _, err := exec.LookPath(gcc); err != nil {
				t.Fatalf("%s is not here: %v: make setup", gcc, err)
			}
			path := compile(t, "p.c", leaves, gcc, "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-pthread", "-Wno-unused-result")
			pids := map[string]int{}
			var all []int
			for i, name := range callers {
				pids[name] = run(t, exec.Command(path, string(rune('0'+i))))
				all = append(all, pids[name])
			}
			r := sampleWith(t, probe.Env{Whole: true, Target: recording.Target{PIDs: all}}, func() { burn(t, 300*time.Millisecond, all...) })
			told := 0
			for _, name := range callers {
				o := samplesOf(r, pids[name])
				if o.samples < 10 {
					t.Logf("%s: %d samples: too few to tell", name, o.samples)
					continue
				}
				if library == "musl" && (name == "prints" || name == "sorts") {
					continue // frames of several kB, and nothing but guesses
				}
				told++
				t.Logf("%s: in %d of %d samples, serve in %d, main in %d, %d cut", name, o.in[name], o.samples, o.in["serve"], o.in["main"], o.cut)
				if 10*o.in[name] < 9*o.samples || 10*o.in["serve"] < 9*o.samples || 10*o.in["main"] < 9*o.samples {
					t.Errorf("%s: %v", name, o.in)
				}
			}
			if told == 0 {
				t.Error("no function was sampled often enough")
			}
		})
	}
}
