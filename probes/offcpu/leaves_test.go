package offcpu

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"snag/recording"
)

// Each thread waits in a function of a C library that keeps no frame pointers, called by
// a function of the program that does; its stacks are told apart by nothing else.
const leaves = `
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>
#define OWN __attribute__((noinline))
#define STAYS __asm__ volatile("")
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int ends[2];
OWN void sleeps(void) { usleep(5000); STAYS; }
OWN void naps(void) { struct timespec t = {0, 5000000}; nanosleep(&t, 0); STAYS; }
OWN void reads(void) { char c; if (read(ends[0], &c, 1) < 0) return; STAYS; }
OWN void polls(void) { poll(0, 0, 5); STAYS; }
OWN void waits_for_events(void) { static int fd = -1; if (fd < 0) fd = epoll_create1(0); struct epoll_event e; epoll_wait(fd, &e, 1, 5); STAYS; }
OWN void waits(void) { pthread_mutex_lock(&mutex); pthread_cond_wait(&cond, &mutex); pthread_mutex_unlock(&mutex); STAYS; }
OWN void waits_for_a_while(void) {
  struct timespec t; clock_gettime(CLOCK_REALTIME, &t); t.tv_nsec += 5000000; if (t.tv_nsec >= 1000000000) { t.tv_sec++; t.tv_nsec -= 1000000000; }
  static pthread_cond_t never = PTHREAD_COND_INITIALIZER; static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&own); pthread_cond_timedwait(&never, &own, &t); pthread_mutex_unlock(&own); STAYS;
}
OWN void locks(void) { pthread_mutex_lock(&held); pthread_mutex_unlock(&held); STAYS; usleep(100); }
OWN void holds(void) { pthread_mutex_lock(&held); usleep(4000); pthread_mutex_unlock(&held); STAYS; usleep(500); }
OWN void takes(void) { while (sem_wait(&sem)) ; STAYS; }
OWN void feeds(void) { usleep(5000); if (write(ends[1], "x", 1) < 0) return; pthread_cond_broadcast(&cond); sem_post(&sem); STAYS; }
OWN void serve(void (*f)(void)) { for (;;) { f(); STAYS; } }
OWN void *session(void *f) { serve((void (*)(void))f); return 0; }
int main(void) {
  void (*all[])(void) = {sleeps, naps, reads, polls, waits_for_events, waits, waits_for_a_while, locks, holds, takes, feeds};
  pthread_t t;
  if (pipe(ends)) return 1;
  sem_init(&sem, 0, 0);
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) pthread_create(&t, 0, session, (void *)all[i]);
  puts("ready"); fflush(stdout);
  return getchar();
}
`

func TestCallersOfTheCLibrary(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("C libraries of arm64 keep frame records")
	}
	for library, gcc := range map[string]string{"glibc": "gcc", "musl": "musl-gcc"} {
		t.Run(library, func(t *testing.T) {
			if _, err := exec.LookPath(gcc); err != nil {
				t.Fatalf("%s is not here: %v: make setup", gcc, err)
			}
			dir := t.TempDir()
			source, out := filepath.Join(dir, "p.c"), filepath.Join(dir, "leaves")
			if err := os.WriteFile(source, []byte(leaves), 0o644); err != nil {
				t.Fatal(err)
			}
			if b, err := exec.Command(gcc, "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-pthread", "-o", out, source).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, b)
			}
			c := runCommand(t, exec.Command(out))
			rec := look(t, func() { time.Sleep(2 * time.Second) }, c.pid)
			checkCallers(t, rec)
		})
	}
}

// checkCallers wants each function's waits below it, with the thread's start at the end.
func checkCallers(t *testing.T, rec *recording.Recording) {
	t.Helper()
	byID := map[int]recording.Stack{}
	for _, s := range rec.Stacks {
		byID[s.ID] = s
	}
	in, whole, other := map[string]float64{}, map[string]float64{}, map[string]float64{}
	for _, w := range rec.OffCPU {
		if w.Reason == recording.WaitRunQueue || w.Stack == 0 {
			continue
		}
		stack := byID[w.Stack]
		frames := " " + strings.Join(stack.Frames, " ") + " "
		name := "none: " + frames
		for _, f := range []string{"sleeps", "naps", "reads", "polls", "waits_for_events", "waits", "waits_for_a_while", "locks", "holds", "takes", "feeds"} {
			if strings.Contains(frames, " "+f+" serve session ") {
				name = f
				in[name] += w.Sum
				if stack.Cut == "" {
					whole[name] += w.Sum
				}
			}
		}
		if strings.HasPrefix(name, "none") && !strings.Contains(frames, " main ") {
			other[frames] += w.Sum
		}
	}
	t.Logf("s by function: %v, of them with whole stacks: %v", in, whole)
	for _, f := range []string{"sleeps", "naps", "reads", "polls", "waits_for_events", "waits", "waits_for_a_while", "locks", "holds", "takes", "feeds"} {
		if in[f] < 0.2 {
			t.Errorf("%s: %.2f s of waits are known to be its own", f, in[f])
		}
	}
	for frames, s := range other {
		if s > 0.2 {
			t.Errorf("%.2f s in none of them:%s", s, frames)
		}
	}
}
