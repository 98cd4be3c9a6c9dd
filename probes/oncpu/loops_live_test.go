package oncpu

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"snag/recording"
)

// Four threads do one thing each: spin for a lock of the C library's or of their own
// that is never free, or compute, or add to one counter.
const spinSource = `
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_spinlock_t lock;
static int word = 1;
static unsigned long counter, sum;
static char what;
static __attribute__((noinline)) void enter(void) {
	while (__atomic_exchange_n(&word, 1, __ATOMIC_ACQUIRE))
		while (__atomic_load_n(&word, __ATOMIC_RELAXED))
			;
}
static __attribute__((noinline)) void work(void) {
	unsigned long x = 1;
	for (;;) {
		for (int i = 0; i < 1000000; i++)
			x = (x ^ i) * 0x9e3779b97f4a7c15UL;
		__atomic_store_n(&sum, x, __ATOMIC_RELAXED);
	}
}
static void *body(void *unused) {
	if (what == 's')
		pthread_spin_lock(&lock);
	else if (what == 'l')
		enter();
	else if (what == 'c')
		for (;;)
			__atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
	else
		work();
	return unused;
}
int main(int argc, char **argv) {
	pthread_t t;
	what = argv[1][0];
	alarm(60);
	if (nice(10) < 0)
		return 1;
	pthread_spin_init(&lock, 0);
	pthread_spin_lock(&lock);
	for (int i = 0; i < 4; i++)
		pthread_create(&t, NULL, body, NULL);
	for (;;)
		pause();
}
`

// TestLoopsTellSpinningFromWork: the code at the samples of who spins is a loop that only
// waits, in the function that has it; that of who works or counts is none.
func TestLoopsTellSpinningFromWork(t *testing.T) {
	bin := compile(t, "spin.c", spinSource, "gcc", "-O2", "-pthread")
	stripped := compile(t, "spin.c", spinSource, "gcc", "-O2", "-s", "-pthread")
	pids := map[string]int{
		"spin": run(t, exec.Command(bin, "spin")), "latch": run(t, exec.Command(bin, "latch")), "stripped": run(t, exec.Command(stripped, "latch")),
		"work": run(t, exec.Command(bin, "work")), "count": run(t, exec.Command(bin, "count")),
	}
	r := sampleAll(t, false, nil, func() { time.Sleep(6 * time.Second) })
	for name, want := range map[string]struct{ kind, function string }{
		"spin": {recording.LoopPauses, "pthread_spin_lock"}, "latch": {recording.LoopWaits, "enter"}, "stripped": {recording.LoopWaits, "spinner+0x"},
		"work": {recording.LoopWorks, ""}, "count": {recording.LoopWorks, ""},
	} {
		var right, all uint64
		threads := 0
		for _, row := range r.Loops {
			if row.PID != pids[name] {
				continue
			}
			all += row.N
			threads = max(threads, row.Threads)
			if row.Kind == want.kind && strings.Contains(row.Function, want.function) {
				right += row.N
			} else {
				t.Logf("%s: %d in %q of %s: %s", name, row.N, row.Kind, row.Function, row.Code)
			}
			if row.Spins() && (row.Bytes < 2 || row.Bytes > 64 || row.Object == "" || row.Code == "") {
				t.Errorf("%s: %+v", name, row)
			}
		}
		if all < 20 || 10*right < 9*all || threads < 2 {
			t.Errorf("%s: %d of %d samples are in %q of %s; up to %d threads", name, right, all, want.kind, want.function, threads)
		}
	}
}
