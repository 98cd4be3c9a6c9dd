package procroot

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

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
	for pid, children := range map[int]string{10: "12 11 \n", 14: "12\n"} {
		at := proc + "/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(pid)
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at+"/children", []byte(children), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for pid, want := range map[int]bool{10: true, 11: false, 14: false, 99: false} {
		if got := Forks(proc, pid); got != want {
			t.Errorf("process %d forks its own program: %v, want %v", pid, got, want)
		}
	}
}

func TestPIDsOfChildren(t *testing.T) {
	if got := fmt.Sprint(parsePIDs("12 13 x -4 99 \n")); got != "[12 13 99]" {
		t.Error(got)
	}
}
