package kernel

import (
	"fmt"
	"os"
	"slices"
	"strconv"
)

// Unhurried lets the Go runtime's monitor, a thread of its own, sleep up to 8 ms longer
// than it asks for. It asks for 20 µs again and again while any goroutine runs or waits
// for a CPU (runtime/proc.go, sysmon), and on a busy host goroutines wait all the time:
// 900 wake-ups per second were measured beside nginx under full load, each of which took
// the CPU from nginx; 80 with this. What the monitor does then, handing on the work of a
// thread that is in a long system call, may come as much later. Timers are not its work
// and keep their time.
//
// The monitor is the first thread that a Go program starts, right after its first:
// the lowest number but the process's own. Slack is what the kernel may add to a sleep
// (proc_pid_timerslack_ns(5), since Linux 4.6; of another thread it takes CAP_SYS_NICE).
func Unhurried() error {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("list snag's own threads: %w", err)
	}
	var tids []int
	for _, t := range tasks {
		if tid, err := strconv.Atoi(t.Name()); err == nil && tid != os.Getpid() {
			tids = append(tids, tid)
		}
	}
	if len(tids) == 0 {
		return nil
	}
	path := "/proc/" + strconv.Itoa(slices.Min(tids)) + "/timerslack_ns"
	if err := os.WriteFile(path, []byte("8000000"), 0); err != nil {
		return fmt.Errorf("let the runtime's monitor sleep longer: %w", err)
	}
	return nil
}
