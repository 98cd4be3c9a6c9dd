package kernel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The thread is the one that the runtime keeps for its monitor: none of those that run
// goroutines got the slack.
func TestUnhurried(t *testing.T) {
	if err := Unhurried(); err != nil {
		if os.Geteuid() != 0 {
			t.Skip("needs CAP_SYS_NICE: " + err.Error())
		}
		t.Fatal(err)
	}
	tasks, err := filepath.Glob("/proc/self/task/*")
	if err != nil {
		t.Fatal(err)
	}
	with := 0
	for _, task := range tasks {
		b, err := os.ReadFile("/proc/" + filepath.Base(task) + "/timerslack_ns")
		if err == nil && strings.TrimSpace(string(b)) == "8000000" {
			with++
			if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err != nil || slack == 8000000 {
				t.Errorf("the test's own thread has the slack: %v", err)
			}
		}
	}
	if with != 1 {
		t.Errorf("%d threads have it, want the monitor alone", with)
	}
}
