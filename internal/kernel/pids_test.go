package kernel

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSeesPIDs(t *testing.T) {
	for link, lacks := range map[string]bool{initialPIDs: false, "pid:[4026532999]": true} {
		proc := t.TempDir()
		os.MkdirAll(filepath.Join(proc, "self/ns"), 0o755)
		if err := os.Symlink(link, filepath.Join(proc, "self/ns/pid")); err != nil {
			t.Fatal(err)
		}
		if got := SeesPIDs(proc) != nil; got != lacks {
			t.Errorf("%s: lacks %v, want %v", link, got, lacks)
		}
	}
}

func TestSeesProcesses(t *testing.T) {
	const all, none = "CapEff:\t000001ffffffffff\n", "CapEff:\t0000000000000000\n"
	plain := "54 52 0:21 / /proc rw,relatime - proc proc rw\n"
	for _, c := range []struct {
		mounts, caps string
		lacks        bool
	}{
		{plain, none, false},
		{plain + "81 54 0:40 / /proc rw,relatime - proc proc rw,hidepid=invisible\n", none, true},
		{plain + "81 54 0:40 / /proc rw,relatime - proc proc rw,hidepid=2\n", all, false},
		{"81 54 0:40 / /proc rw,relatime shared:5 - proc proc rw,hidepid=2,gid=77777\n", none, true},
		{"81 54 0:40 / /proc rw,relatime - proc proc rw,hidepid=2\n" + plain, none, false},
		{"81 54 0:40 / /chroot/proc rw,relatime - proc proc rw,hidepid=2\n", none, false},
		{"81 54 0:40 / /proc -", none, false},
		{"", none, false},
	} {
		proc := t.TempDir()
		for name, text := range map[string]string{"mountinfo": c.mounts, "status": c.caps} {
			os.MkdirAll(filepath.Join(proc, "self"), 0o755)
			if err := os.WriteFile(filepath.Join(proc, "self", name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := SeesProcesses(proc) != nil; got != c.lacks {
			t.Errorf("lacks %v of %q", got, c.mounts)
		}
	}
}
