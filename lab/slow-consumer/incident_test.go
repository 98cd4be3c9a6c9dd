package slowconsumer

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
	"snag/lab/actor"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		before := freezes(t, s)
		relay := s.ProcessOf("fanout-relay").PID
		var blocked, full, piled int
		const looks = 60 // of 100 ms: a whole round of the lazy viewer
		for range looks {
			if inWrite(relay) {
				blocked++
			}
			lazy, ingest := queues(t, s)
			if lazy > 100_000 {
				full++
			}
			if ingest > 30_000 {
				piled++
			}
			time.Sleep(100 * time.Millisecond)
		}
		more := freezes(t, s)
		for name, n := range more {
			if (v == lab.Sick) != (n > before[name]) {
				t.Errorf("%s froze %d times", name, n-before[name])
			}
		}
		if (v == lab.Sick) != (blocked > looks/3) || (v != lab.Sick && blocked > looks/10) {
			t.Errorf("the relay was in write in %d of %d samples", blocked, looks)
		}
		if (v != lab.Healthy) != (full > looks/3) {
			t.Errorf("a consumer's Send-Q was full in %d of %d samples", full, looks)
		}
		if (v == lab.Sick) != (piled > looks/4) {
			t.Errorf("the publisher's Recv-Q was full in %d of %d samples", piled, looks)
		}
		t.Logf("of %d looks: relay in write %d, a Send-Q full %d, the publisher's Recv-Q full %d", looks, blocked, full, piled)
	})
}

// freezes counts the gaps of over a second that each viewer met, the lazy one apart.
func freezes(t *testing.T, s *lab.Stage) map[string]int {
	t.Helper()
	out := map[string]int{}
	for n := range viewers {
		name := fmt.Sprintf("viewer%d", n+1)
		line, ok := actor.LastLine(s.ProcessOf(name).Printed())
		if !ok {
			t.Fatalf("%s printed no counts", name)
		}
		out[name] = line.Count["freeze"]
	}
	return out
}

// inWrite tells whether a thread of the process sits in write(2).
func inWrite(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	for _, f := range files {
		raw, _ := os.ReadFile(f)
		if strings.HasPrefix(string(raw), strconv.Itoa(unix.SYS_WRITE)+" ") {
			return true
		}
	}
	return false
}

// queues returns the fullest Send-Q of the consumers' sockets and the Recv-Q of
// the publisher's, bytes.
func queues(t *testing.T, s *lab.Stage) (sendQ, recvQ int) {
	t.Helper()
	out, err := s.Output(s.Name("relay"), "ss", "-Htn", "state", "established")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(out, "\n") {
		f := strings.Fields(l)
		if len(f) < 4 {
			continue
		}
		r, _ := strconv.Atoi(f[0])
		w, _ := strconv.Atoi(f[1])
		switch {
		case strings.HasSuffix(f[2], ":7001"):
			sendQ = max(sendQ, w)
		case strings.HasSuffix(f[2], ":7000"):
			recvQ = r
		}
	}
	return sendQ, recvQ
}
