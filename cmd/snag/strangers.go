package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"time"

	"snag/internal/cli"
	"snag/internal/shown"
	"snag/recording"
)

// What judging a stranger's recording may cost for each gigabyte of SNAG_MAX_MEMORY. The
// bounds of package recording keep nearly all below that while it is read; this is for
// what rules make of it.
const (
	strangersTime  = 20 * time.Second // of CPU: an honest recording of 40,000 sockets takes 3
	heapOfMemory   = 0.8              // of the memory, from where on the collector works all the time
	betweenLooksAt = 50 * time.Millisecond
)

// bound ends the program, with an error that names the bound, once what it does with the
// recording at path takes more. It is called before a stranger's recording is opened.
func bound(path string) { boundTimes(path, 1) }

// boundTimes is bound for so many times of what one recording may take.
func boundTimes(path string, times int) {
	memory, _ := recording.MaxMemory() // main said what is wrong with it
	memory *= int64(times)
	most := time.Duration(float64(strangersTime) * float64(memory) / (1 << 30))
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(heapOfMemory * float64(memory)))
	}
	go func() {
		for began := cpuTime(); ; time.Sleep(betweenLooksAt) {
			over := ""
			switch {
			case memoryUsed() > memory:
				over = fmt.Sprintf("takes more than %.3g GB of memory", float64(memory)/(1<<30))
			case cpuTime()-began > most:
				over = fmt.Sprintf("takes more than %.3g s of CPU time", most.Seconds())
			default:
				continue
			}
			fmt.Fprintf(shown.To(os.Stderr), "snag: %v\n", &recording.LimitError{Path: path, What: over})
			os.Exit(cli.ExitFailed)
		}
	}()
}

// memoryUsed is what the runtime has of the kernel and did not give back, bytes.
func memoryUsed() int64 {
	m := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(m)
	return int64(m[0].Value.Uint64() - m[1].Value.Uint64())
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
