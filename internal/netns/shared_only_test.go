package netns

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestSharedOnly(t *testing.T) {
	proc := t.TempDir()
	for pid, id := range map[int]int{10: 7, 20: 8} {
		dir := filepath.Join(proc, fmt.Sprint(pid), "ns")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(fmt.Sprintf("net:[%d]", id), filepath.Join(dir, "net")); err != nil {
			t.Fatal(err)
		}
	}
	for only, want := range map[bool]int{true: 1, false: 2} {
		s := &Shared{Only: only}
		found, err := s.List(proc, nil, 7, false)
		if err != nil || len(found.All) != want || !found.All[0].Own {
			t.Errorf("only %v: %+v, %v", only, found.All, err)
		}
	}
}
