package drops

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A socket that is not found while the next scan is not due has not been looked for: its drops
// wait for that scan.
func TestOwnersAreLookedForAgain(t *testing.T) {
	proc := t.TempDir()
	holds := func(pid, inode string) {
		t.Helper()
		fd := filepath.Join(proc, pid, "fd")
		if err := os.MkdirAll(fd, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(proc, pid, "comm"), []byte("game\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("socket:["+inode+"]", filepath.Join(fd, inode)); err != nil {
			t.Fatal(err)
		}
	}
	holds("7", "100")
	o, now := owners{proc: proc, known: map[uint64]owner{}}, time.Now()
	if !o.find(map[uint64]bool{100: true}, now) || o.known[100] != (owner{7, "game"}) {
		t.Errorf("100 is of %+v", o.known[100])
	}
	holds("9", "200")
	both := map[uint64]bool{100: true, 200: true}
	if o.find(both, now.Add(time.Millisecond)) {
		t.Error("a scan that is not due was made")
	}
	if !o.find(map[uint64]bool{100: true}, now.Add(time.Millisecond)) {
		t.Error("what is known needs no scan")
	}
	if !o.find(both, o.next) || o.known[200] != (owner{9, "game"}) {
		t.Errorf("200 is of %+v", o.known[200])
	}
}
