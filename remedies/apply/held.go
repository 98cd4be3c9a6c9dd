package apply

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"snag/remedies/journal"
)

// Files in a plan's folder that a process locks as long as it lives: the kernel lets
// such a lock go at any end of the process, kill -9 included.
const (
	guardFile  = "guard"  // by who waits for the deadline
	holderFile = "holder" // by who carries out a trial
)

// hold takes one of these locks. The file is there since the plan began.
func hold(dir, file string) (release func(), err error) {
	path := filepath.Join(dir, file)
	f, err := journal.OpenFile(path, os.O_RDONLY|os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := flock(f, unix.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = f.Close() }, nil
}

// held reports whether a process has the lock.
func held(dir, file string) bool {
	f, err := journal.OpenFile(filepath.Join(dir, file), os.O_RDONLY)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == unix.EWOULDBLOCK
}
