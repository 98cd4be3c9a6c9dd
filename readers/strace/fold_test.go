package strace

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"snag/recording/calltable"
)

// Of 6,000 processes that end in one second few have rows of their own, among them the one
// with most time, and no call, byte, error or nanosecond is left out.
func TestManyProcessesInOneSecond(t *testing.T) {
	const processes = 6000
	var text strings.Builder
	text.WriteString(started(999))
	for i := range processes {
		took := 10 + i%7
		if i == 4321 {
			took = 700_000
		}
		at := fmt.Sprintf("1700000000.%06d", 100+i)
		fmt.Fprintf(&text, "%d  %s read(3, \"ab\", 16) = 2 <0.%06d>\n", 1000+i, at, took)
		fmt.Fprintf(&text, "%d  %s openat(AT_FDCWD, \"x\", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000003>\n", 1000+i, at)
		fmt.Fprintf(&text, "%d  %s +++ exited with 0 +++\n", 1000+i, at)
	}
	r, counts := trace(t, Options{}, text.String())
	sum := totals(r)
	seconds := 0.7
	for i := range processes {
		if i != 4321 {
			seconds += float64(10+i%7) / 1e6
		}
	}
	if got := sum["read"]; got.n != processes || got.done != 2*processes || math.Abs(got.sum-seconds) > 1e-6 {
		t.Errorf("read: %+v, want %d calls of %g s", got, processes, seconds)
	}
	if got := sum["openat"]; got.n != processes || got.errs != processes {
		t.Errorf("openat: %+v", got)
	}
	if counts.Calls != 2*processes+1 || len(r.Calls) > calltable.Most {
		t.Errorf("%d calls in %d rows", counts.Calls, len(r.Calls))
	}
	for _, row := range r.Calls {
		if row.PID == 5321 && row.Call == "read" && row.N == 1 && row.Max == 0.7 {
			return
		}
	}
	t.Error("the longest call has no row of its own")
}

// More descriptors than there is room for are not known, and it is said; those of processes
// that ended make room.
func TestMostDescriptors(t *testing.T) {
	var text strings.Builder
	text.WriteString(started(7))
	for i := range mostFDs + 500 {
		fmt.Fprintf(&text, "7  1700000000.000100 openat(AT_FDCWD, \"f%d\", O_RDONLY) = %d <0.000001>\n", i, i+3)
	}
	why := whyOf(t, text.String())
	if want := fmt.Sprintf("500 times a descriptor was opened or used beyond the %d that are tracked", mostFDs); !strings.Contains(why, want) {
		t.Errorf("why: %q", why)
	}
	text.WriteString("7  1700000000.000200 +++ exited with 0 +++\n")
	for i := range 100 {
		fmt.Fprintf(&text, "8  1700000000.000300 openat(AT_FDCWD, \"g\", O_RDONLY) = %d <0.000001>\n", i+3)
	}
	if again := whyOf(t, text.String()); again != why {
		t.Errorf("after the first process: %q", again)
	}
}

// started is the first line of a trace that begins with its program.
func started(pid int) string {
	return fmt.Sprintf("%d  1700000000.000001 execve(\"/bin/x\", [\"x\"], 0x7ffc) = 0 <0.000001>\n", pid)
}

func whyOf(t *testing.T, text string) (why string) {
	t.Helper()
	tr := New(&sink{}, Options{Begin: 1_700_000_000e9})
	var l Line
	for line := range strings.Lines(text) {
		l.Parse([]byte(strings.TrimSuffix(line, "\n")))
		tr.Line(&l)
	}
	tr.End()
	why, _ = tr.flaws(Epoch)
	return why
}

// A descriptor that is put in its own place keeps its name.
func TestDupOntoItself(t *testing.T) {
	r, _ := trace(t, Options{}, started(7)+`7  1700000000.000100 openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 5 <0.000001>
7  1700000000.000200 dup2(5, 5) = 5 <0.000001>
7  1700000000.000300 read(5, "x", 10) = 1 <0.000001>
`)
	for _, row := range r.FDs {
		if row.FD == 5 && row.Name == "/etc/passwd" {
			return
		}
	}
	t.Errorf("%+v", r.FDs)
}
