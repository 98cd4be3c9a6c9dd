package netns

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// NamedDir is where ip netns keeps the names of namespaces.
const NamedDir = "/run/netns"

// Named is the inode of the namespace that is mounted under that name in one of the
// directories; 0: none is.
func Named(nameDirs []string, name string) uint64 {
	if name != filepath.Base(name) {
		return 0 // a path is no name
	}
	for _, dir := range nameDirs {
		path := filepath.Join(dir, name)
		var st unix.Stat_t
		if unix.Stat(path, &st) == nil && onNsfs(path) {
			return st.Ino
		}
	}
	return 0
}

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
