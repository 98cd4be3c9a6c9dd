package procroot

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestNSPid(t *testing.T) {
	for status, want := range map[string]int{
		"Name:\tjava\nNSpid:\t4711\t12\t1\nx": 1, "Name:\tjava\nNSpid:\t4711\nx": 4711, "Name:\tjava\n": 0, "\nNSpid:": 0, "\nNSpid:\tx\n": 0,
	} {
		if got := nsPID(status); got != want {
			t.Errorf("%q: %d, want %d", status, got, want)
		}
	}
}

func TestForkedBy(t *testing.T) {
	proc := t.TempDir()
	for pid, p := range map[int]struct{ stat, exe string }{
		10: {"10 (postgres) S 1 10", "/usr/lib/postgresql/15/bin/postgres"},
		11: {"11 (postgres: a b) c) S 10 10", "/usr/lib/postgresql/15/bin/postgres"},
		12: {"12 (sh) S 10 10", "/bin/dash"},
		13: {"13 (torn", "/bin/dash"},
		14: {"14 (orphan) S 9 10", "/bin/dash"},
	} {
		at := proc + "/" + strconv.Itoa(pid)
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at+"/stat", []byte(p.stat+strings.Repeat(" 0", 20)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(p.exe, at+"/exe"); err != nil {
			t.Fatal(err)
		}
	}
	for pid, want := range map[int]int{11: 10, 12: 0, 13: 0, 14: 0, 10: 0, 99: 0} {
		if got := ForkedBy(proc, pid); got != want {
			t.Errorf("process %d: %d, want %d", pid, got, want)
		}
	}
}
