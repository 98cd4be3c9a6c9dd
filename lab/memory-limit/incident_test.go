package memorylimit

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// The kernel's own count: who grows is killed, and who does not is not, though the backup
// beside it runs into the limit.
func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		dir := groupOf(t, s.ProcessOf("price-service").PID)
		kills, hits := happened(t, dir)
		time.Sleep(5 * time.Second)
		killsNow, hitsNow := happened(t, dir)
		kills, hits = killsNow-kills, hitsNow-hits
		t.Logf("%s: %d kills, the limit was hit %d times", v, kills, hits)
		if (v == lab.Sick) != (kills > 0) {
			t.Errorf("%s: %d kills", v, kills)
		}
		if v == lab.Healthy && hits > 0 || v == lab.Distractor && hits < 20 {
			t.Errorf("%s: the limit was hit %d times", v, hits)
		}
	})
}

// groupOf is where the files of the memory controller of a process' group are.
func groupOf(t *testing.T, pid int) string {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		t.Fatal(err)
	}
	dir := ""
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		f := strings.SplitN(line, ":", 3)
		if len(f) == 3 && f[1] == "memory" {
			return filepath.Join("/sys/fs/cgroup/memory", f[2])
		}
		if len(f) == 3 && f[1] == "" {
			dir = filepath.Join("/sys/fs/cgroup", f[2])
		}
	}
	return dir
}

// happened is how many processes of a group were killed for its limit, and how often it was hit.
func happened(t *testing.T, dir string) (kills, hits int) {
	t.Helper()
	for _, file := range []string{"memory.events", "memory.oom_control", "memory.failcnt"} {
		raw, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			continue // of the other version
		}
		for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
			f := strings.Fields("hits " + line)
			n, _ := strconv.Atoi(f[len(f)-1])
			switch f[len(f)-2] {
			case "oom_kill":
				kills = n
			case "max", "hits":
				hits = n
			}
		}
	}
	return kills, hits
}
