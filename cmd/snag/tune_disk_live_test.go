package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The disk of the journal goes bad while a plan waits to be confirmed: it is full to the
// last byte, or an error makes the kernel turn it read-only. The guard, a process of its
// own, and undo by a person restore all settings all the same.
func TestADiskThatGoesBad(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bad  func(s *space)
		undo bool // by a person
	}{
		"full, guard":      {fillUp, false},
		"full, undo":       {fillUp, true},
		"read-only, guard": {abort, false},
		"read-only, undo":  {abort, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpace(t, "disk"+string(name[0])+name[len(name)-1:], false)
			before := s.values()
			image := s.store + "-image"
			if err := os.Mkdir(s.store, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, words := range [][]string{
				{"truncate", "-s", "4M", image}, {"mkfs.ext4", "-q", "-m", "0", image}, {"mount", "-o", "loop,nosuid,errors=remount-ro", image, s.store}, {"chmod", "700", s.store},
			} {
				if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
					t.Skipf("%v: %v: %s", words, err, out)
				}
			}
			t.Cleanup(func() { _ = unix.Unmount(s.store, unix.MNT_DETACH) })
			if out, code := s.tune("apply", s.plan, "--within", "5s"); code != 0 {
				t.Fatalf("exit %d: %s", code, out)
			}
			c.bad(s)
			if c.undo {
				out, code := s.tune("undo")
				if code != 0 || !strings.Contains(out, "3 settings are as before") {
					t.Errorf("exit %d: %s", code, out)
				}
				s.comeBack(before, 100*time.Millisecond)
				return
			}
			s.comeBack(before, 12*time.Second)
		})
	}
}

func fillUp(s *space) {
	s.t.Helper()
	_ = exec.Command("dd", "if=/dev/zero", "of="+filepath.Join(s.store, "filler"), "bs=1k", "conv=fsync").Run() // until there is no room
	if err := os.WriteFile(filepath.Join(s.store, "more"), make([]byte, 4096), 0o600); err == nil {
		s.t.Fatal("there is room left")
	}
}

// abort has ext4 act as after an error of its disk (ext4(5), the mount option abort).
func abort(s *space) {
	s.t.Helper()
	_ = exec.Command("mount", "-o", "remount,abort", s.store).Run()
	if err := os.WriteFile(filepath.Join(s.store, "more"), nil, 0o600); err == nil {
		s.t.Fatal("it can still be written")
	}
}
