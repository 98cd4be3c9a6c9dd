package numaimbalance

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// The kernel's count of pages that came from swap, beside the other node's free
// memory.
func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, _ *lab.Stage, v lab.Variant) {
		before := field(t, "/proc/vmstat", "pswpin ")
		time.Sleep(4 * time.Second)
		in, free := field(t, "/proc/vmstat", "pswpin ")-before, field(t, "/sys/devices/system/node/node1/meminfo", "Node 1 MemFree:")
		if v == lab.Sick && (in < 500 || free < 200_000) {
			t.Errorf("%d pages came from swap, with %d kB free on node 1", in, free)
		}
	})
}

func field(t *testing.T, file, name string) int {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut("\n"+string(raw), "\n"+name)
	f := strings.Fields(rest)
	if len(f) == 0 {
		t.Fatalf("%s has no %s", file, name)
	}
	n, err := strconv.Atoi(f[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
