package actor

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// errno names the system's error as ECONNRESET, EPIPE …, for counting.
func errno(err error) string {
	var no syscall.Errno
	if errors.As(err, &no) {
		if name := unix.ErrnoName(no); name != "" {
			return name
		}
	}
	return "error"
}
