// Package uring knows the operations of io_uring, and reads what /proc shows of a ring.
package uring

import (
	"strconv"
	"strings"

	"snag/recording"
)

// Kinds of operations, as ../uring.h has them.
const (
	onFile = 1 << iota
	moves
	shots
)

// operations are io_uring's by opcode (include/uapi/linux/io_uring.h), and their
// kinds: on a descriptor (needs_file in io_uring/opdef.c), with a result in bytes,
// with many results.
var operations = []struct {
	name string
	kind uint8
}{
	{"nop", 0}, {"readv", onFile | moves}, {"writev", onFile | moves}, {"fsync", onFile},
	{"read_fixed", onFile | moves}, {"write_fixed", onFile | moves}, {"poll_add", onFile | shots}, {"poll_remove", 0},
	{"sync_file_range", onFile}, {"sendmsg", onFile | moves}, {"recvmsg", onFile | moves | shots}, {"timeout", shots},
	{"timeout_remove", 0}, {"accept", onFile | shots}, {"async_cancel", 0}, {"link_timeout", 0},
	{"connect", onFile}, {"fallocate", onFile}, {"openat", 0}, {"close", 0},
	{"files_update", 0}, {"statx", 0}, {"read", onFile | moves}, {"write", onFile | moves},
	{"fadvise", onFile}, {"madvise", 0}, {"send", onFile | moves}, {"recv", onFile | moves | shots},
	{"openat2", 0}, {"epoll_ctl", 0}, {"splice", onFile | moves}, {"provide_buffers", 0},
	{"remove_buffers", 0}, {"tee", onFile | moves}, {"shutdown", onFile}, {"renameat", 0},
	{"unlinkat", 0}, {"mkdirat", 0}, {"symlinkat", 0}, {"linkat", 0},
	{"msg_ring", onFile}, {"fsetxattr", onFile}, {"setxattr", 0}, {"fgetxattr", onFile},
	{"getxattr", 0}, {"socket", 0}, {"uring_cmd", onFile | shots}, {"send_zc", onFile | moves},
	{"sendmsg_zc", onFile | moves}, {"read_multishot", onFile | moves | shots}, {"waitid", 0}, {"futex_wait", 0},
	{"futex_wake", 0}, {"futex_waitv", 0}, {"fixed_fd_install", onFile}, {"ftruncate", onFile},
	{"bind", onFile}, {"listen", onFile}, {"recv_zc", onFile | shots}, {"epoll_wait", onFile},
	{"readv_fixed", onFile | moves}, {"writev_fixed", onFile | moves}, {"pipe", 0},
}

// Name names an opcode as a call: "io_uring:recv". 255 is a completion of which the
// operation is not known.
func Name(code uint32) string {
	switch {
	case code < uint32(len(operations)):
		return recording.UringPrefix + operations[code].name
	case code == 255:
		return recording.UringPrefix + "unknown"
	}
	return recording.UringPrefix + strconv.FormatUint(uint64(code), 10)
}

// Kinds is the table of kinds for the kernel side.
func Kinds() (table [128]uint8) {
	for code, op := range operations {
		table[code] = op.kind
	}
	return table
}

// Moves reports whether an operation's result is bytes; call is its name as Name has it.
func Moves(call string) bool {
	name := strings.TrimPrefix(call, recording.UringPrefix)
	for _, op := range operations {
		if op.name == name {
			return op.kind&moves != 0
		}
	}
	return false
}

// idleOperations wait for something that may never come, as idle threads do.
var idleOperations = map[string]bool{
	"accept": true, "poll_add": true, "timeout": true, "link_timeout": true, "epoll_wait": true, "recv": true, "recvmsg": true,
	"recv_zc": true, "read_multishot": true, "waitid": true, "futex_wait": true, "futex_waitv": true, "msg_ring": true, "uring_cmd": true,
}

// WaitsForWork reports whether it is no news that an operation lasts.
func WaitsForWork(call string) bool {
	return idleOperations[strings.TrimPrefix(call, recording.UringPrefix)]
}
