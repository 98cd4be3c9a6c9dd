package lockconvoy

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
	"snag/lab/threadserver"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		time.Sleep(time.Second)
		pid := s.ProcessOf("thread-server").PID
		jammed, waiting := 0, 0
		const looks = 40
		for range looks {
			w := lockWaiters(pid)
			waiting += w
			if w >= workers*3/4 {
				jammed++
			}
			time.Sleep(50 * time.Millisecond)
		}
		if (v == lab.Sick) != (jammed > looks/2) {
			t.Errorf("%d threads waited for the lock on average; most of them in %d of %d samples", waiting/looks, jammed, looks)
		}
		p50, ok := threadserver.LastP50(s.ProcessOf("client").Printed())
		if !ok {
			t.Fatal("the client printed no latency")
		}
		if (v == lab.Sick) != (p50 > 300) {
			t.Errorf("half of the answers take %.0f ms", p50)
		}
		t.Logf("of %d threads %d wait for the lock; p50 %.0f ms", workers, waiting/looks, p50)
	})
}

// lockWaiters counts the threads in futex(…, FUTEX_WAIT_PRIVATE, 2).
func lockWaiters(pid int) int {
	n := 0
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	for _, f := range files {
		raw, _ := os.ReadFile(f)
		if w := strings.Fields(string(raw)); len(w) > 3 && w[0] == strconv.Itoa(unix.SYS_FUTEX) && w[2] == "0x80" && w[3] == "0x2" {
			n++
		}
	}
	return n
}
