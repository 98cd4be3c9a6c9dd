package load

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// runDelay is how long this thread has waited for a CPU so far though it could run: the second number of schedstat
// (Documentation/scheduler/sched-stats.rst). Not known where the kernel does not count it.
func runDelay() (d time.Duration, known bool) {
	b, err := os.ReadFile("/proc/thread-self/schedstat")
	if err != nil {
		return 0, false
	}
	return parseRunDelay(b)
}

func parseRunDelay(schedstat []byte) (d time.Duration, known bool) {
	w := bytes.Fields(schedstat)
	if len(w) < 2 {
		return 0, false
	}
	ns, err := strconv.ParseInt(string(w[1]), 10, 64)
	return time.Duration(ns), err == nil
}

// countRunDelay keeps what came of it in this run.
func (r *run) countRunDelay(before time.Duration, known bool) {
	after, still := runDelay()
	if known && still {
		r.out.RunDelay = max(0, after-before)
	}
}
