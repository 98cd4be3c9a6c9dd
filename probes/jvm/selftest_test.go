package jvm

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf/link"

	"snag/internal/elffile"
)

// What the programs sit on here, in the place of libjvm's probes.
//
//go:noinline
func standStill(n int) int { return n + 1 }

//go:noinline
func runAgain(n int) int { return n + 2 }

// TestProgramsWithoutAJVM loads the programs and hangs them on this test's own
// functions: the kernel takes them, and one stop is told. tools/vm runs it on
// kernels that have no JVM at hand.
func TestProgramsWithoutAJVM(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, for uprobes")
	}
	lib := &library{probes: map[string]elffile.Probe{}}
	if err := lib.load("/proc"); err != nil {
		t.Fatal(err)
	}
	defer lib.maps.Close()
	defer lib.ring.Close()
	exe, err := link.OpenExecutable("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, on := range []struct {
		program string
		f       func(int) int
	}{{safepointProgSafepointBegin, standStill}, {safepointProgSafepointEnd, runAgain}} {
		l, err := exe.Uprobe(on.program, lib.maps.Programs[on.program], &link.UprobeOptions{Address: offsetOf(t, on.f), PID: os.Getpid()})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	if standStill(1)+runAgain(1) != 5 {
		t.Fatal("the probes changed what the functions return")
	}
	lib.ring.SetDeadline(time.Now().Add(10 * time.Second))
	record, err := lib.ring.Read()
	if err != nil {
		t.Fatalf("no stop was told: %v", err)
	}
	stop, ok := decodeStop(record.RawSample)
	if !ok || int(stop.Pid) != os.Getpid() || stop.Asked == 0 || stop.End < stop.Asked {
		t.Errorf("%+v", stop)
	}
}

// offsetOf is where a function lies in the test's own file, by /proc/PID/maps.
func offsetOf(t *testing.T, f func(int) int) uint64 {
	t.Helper()
	pc := uint64(reflect.ValueOf(f).Pointer())
	file, err := os.Open("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var start, end, offset uint64
		var rights string
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s %x", &start, &end, &rights, &offset); n == 4 && strings.Contains(rights, "x") && start <= pc && pc < end {
			return pc - start + offset
		}
	}
	t.Fatalf("no mapping has %#x", pc)
	return 0
}
