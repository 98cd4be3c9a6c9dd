package apply

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Files in a plan's folder that a process locks as long as it lives: the kernel lets
// such a lock go at any end of the process, kill -9 included.
const (
	guardFile  = "guard"  // by who waits for the deadline
	holderFile = "holder" // by who carries out a trial
)

// hold takes one of these locks.
func hold(dir, file string) (release func(), err error) {
	path := filepath.Join(dir, file)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, errors.Unwrap(err))
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if err != unix.EINTR {
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
	}
}

// held tells whether a process has the lock.
func held(dir, file string) bool {
	f, err := os.Open(filepath.Join(dir, file))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == unix.EWOULDBLOCK
}
