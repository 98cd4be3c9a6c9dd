package sockets

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func getsockopt(fd, level, name int, v []uint32, size *uint32) error {
	_, _, e := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), uintptr(level), uintptr(name),
		uintptr(unsafe.Pointer(&v[0])), uintptr(unsafe.Pointer(size)), 0)
	if e != 0 {
		return e
	}
	return nil
}
