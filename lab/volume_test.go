package lab_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snag/lab"
)

// Volumes and swap go with the stage, by the same hand that the janitor's is.
func TestVolumesAndSwapGoWithTheStage(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting and swapping need root")
	}
	var st unix.Stat_t
	if err := unix.Stat(os.TempDir(), &st); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))); err != nil {
		t.Skip("the temporary folder is on no disk: set TMPDIR to one that is")
	}
	s, err := lab.NewStage(context.Background(), lab.Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	v := s.Volume("one", 16)
	slow, little := s.SlowDisk("slow", 1<<20), s.LittleMemory("little", 32)
	s.Swap(16)
	if err := s.Err(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(v.Mount, "file"), []byte("kept open by nobody"), 0o644); err != nil {
		t.Error(err)
	}
	if left := traces(t, s.Dir()); len(left) != 3 {
		t.Errorf("before Close there is %q, want a mount, a loop device and swap", left)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	left := traces(t, s.Dir())
	for _, path := range []string{s.Dir(), slow.Path, little.Path} {
		if _, err := os.Stat(path); err == nil {
			left = append(left, path)
		}
	}
	if len(left) > 0 {
		t.Errorf("after Close there is still %q", left)
	}
}

// traces are what the kernel still has of a folder's files.
func traces(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	files, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, file := range append(files, "/proc/swaps", "/proc/mounts") {
		raw, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(raw), dir) {
			out = append(out, file)
		}
	}
	return out
}
