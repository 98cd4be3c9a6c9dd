package spinlocksteady

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestTruth: of the CPU time of a server that spins little is left for answers, and
// none of its threads sleeps for a lock.
func TestTruth(t *testing.T) {
	each := map[lab.Variant]float64{}
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		pid := s.ProcessOf("thread-server").PID
		before, seen := cpu(t, pid), len(printed(s))
		time.Sleep(4 * time.Second)
		burnt := cpu(t, pid) - before
		answers := 0
		for _, line := range printed(s)[seen:] {
			var n int
			if _, err := fmt.Sscanf(line, "answers %d ", &n); err == nil {
				answers += n
			}
		}
		if answers == 0 {
			t.Fatal("nobody was answered")
		}
		each[v] = burnt / float64(answers)
		t.Logf("%s: %.2f s of CPU time for %d answers, %.2f ms each", v, burnt, answers, 1000*each[v])
		if n := inFutex(pid); v != lab.Healthy && n > 3 {
			t.Errorf("%d threads sleep in futex", n)
		}
	})
	// Its work under the lock takes 0.2 to 0.4 ms.
	if each[lab.Sick] < 0.001 {
		t.Errorf("an answer takes %.2f ms of CPU time: its workers do not spin", 1000*each[lab.Sick])
	}
}

func printed(s *lab.Stage) []string {
	return strings.Split(strings.TrimSpace(s.ProcessOf("client").Printed()), "\n")
}

// cpu is the CPU time of a process, s (proc(5), /proc/PID/stat).
func cpu(t *testing.T, pid int) float64 {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')'):]))
	user, err1 := strconv.ParseFloat(f[12], 64)
	system, err2 := strconv.ParseFloat(f[13], 64)
	if err1 != nil || err2 != nil {
		t.Fatalf("%q", raw)
	}
	return (user + system) / 100
}

// inFutex counts the threads that are in futex.
func inFutex(pid int) int {
	n := 0
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	for _, f := range files {
		raw, _ := os.ReadFile(f)
		if w := strings.Fields(string(raw)); len(w) > 3 && w[0] == strconv.Itoa(unix.SYS_FUTEX) {
			n++
		}
	}
	return n
}
