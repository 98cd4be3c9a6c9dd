package swap

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

// The kernel's count of pages that came from swap, and the process' own of its
// faults.
func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		server := s.ProcessOf("cache-server")
		in, faults := swappedIn(t), majorFaults(t, server.PID)
		time.Sleep(3 * time.Second)
		in, faults = swappedIn(t)-in, majorFaults(t, server.PID)-faults
		if v == lab.Sick && (faults < 100 || in < faults/2) {
			t.Errorf("%d major faults of the server, %d pages from swap: want hundreds of both", faults, in)
		}
	})
}

func swappedIn(t *testing.T) int {
	t.Helper()
	raw, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "\npswpin ")
	return number(t, strings.Fields(rest)[0])
}

func majorFaults(t *testing.T, pid int) int {
	t.Helper()
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	return number(t, strings.Fields(rest)[9])
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
