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
