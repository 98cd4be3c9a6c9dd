package memoryfragmentation

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

// The kernel's own count of allocations that compacted, beside the free memory.
func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, _ *lab.Stage, v lab.Variant) {
		before := field(t, "/proc/vmstat", "compact_stall ")
		time.Sleep(4 * time.Second)
		stalls, free := field(t, "/proc/vmstat", "compact_stall ")-before, field(t, "/proc/meminfo", "MemFree:")
		if v == lab.Sick && (stalls < 20 || free < 100_000) {
			t.Errorf("%d allocations compacted, with %d kB free", stalls, free)
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
