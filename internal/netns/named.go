package netns

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// NamedDir is where ip netns keeps the names of namespaces.
const NamedDir = "/run/netns"

// DoNamed runs f in the network namespace of that name, on a thread of its own.
func DoNamed(name string, f func() error) error {
	path := filepath.Join(NamedDir, name)
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return fmt.Errorf("enter network namespace %s: %w (ip netns list shows which there are)", name, err)
	}
	h, err := Open(Namespace{ID: st.Ino, Path: path})
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }()
	return h.Do(f)
}
