package actor

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// setMempolicy sets the calling thread's memory policy; golang.org/x/sys has no
// function for it.
func setMempolicy(mode uintptr, nodes *[16]uint64) unix.Errno {
	_, _, errno := unix.Syscall(unix.SYS_SET_MEMPOLICY, mode, uintptr(unsafe.Pointer(nodes)), uintptr(len(nodes)*64))
	return errno
}
