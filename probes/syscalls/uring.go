package syscalls

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"snag/internal/kernel"
	"snag/recording"
)

// uringBit is NR_URING: the number is an opcode of io_uring's.
const uringBit = 1 << 29

// mostOperations is OPERATIONS.
const mostOperations = 16384

// Kinds of operations, as uring.h has them.
const (
	opFile = 1 << iota
	opMoves
	opShots
)

// operations are io_uring's by opcode (include/uapi/linux/io_uring.h), and their
// kinds: on a descriptor (needs_file in io_uring/opdef.c), with a result in bytes,
// with many results.
var operations = []struct {
	name string
	kind uint8
}{
	{"nop", 0}, {"readv", opFile | opMoves}, {"writev", opFile | opMoves}, {"fsync", opFile},
	{"read_fixed", opFile | opMoves}, {"write_fixed", opFile | opMoves}, {"poll_add", opFile | opShots}, {"poll_remove", 0},
	{"sync_file_range", opFile}, {"sendmsg", opFile | opMoves}, {"recvmsg", opFile | opMoves | opShots}, {"timeout", opShots},
	{"timeout_remove", 0}, {"accept", opFile | opShots}, {"async_cancel", 0}, {"link_timeout", 0},
	{"connect", opFile}, {"fallocate", opFile}, {"openat", 0}, {"close", 0},
	{"files_update", 0}, {"statx", 0}, {"read", opFile | opMoves}, {"write", opFile | opMoves},
	{"fadvise", opFile}, {"madvise", 0}, {"send", opFile | opMoves}, {"recv", opFile | opMoves | opShots},
	{"openat2", 0}, {"epoll_ctl", 0}, {"splice", opFile | opMoves}, {"provide_buffers", 0},
	{"remove_buffers", 0}, {"tee", opFile | opMoves}, {"shutdown", opFile}, {"renameat", 0},
	{"unlinkat", 0}, {"mkdirat", 0}, {"symlinkat", 0}, {"linkat", 0},
	{"msg_ring", opFile}, {"fsetxattr", opFile}, {"setxattr", 0}, {"fgetxattr", opFile},
	{"getxattr", 0}, {"socket", 0}, {"uring_cmd", opFile | opShots}, {"send_zc", opFile | opMoves},
	{"sendmsg_zc", opFile | opMoves}, {"read_multishot", opFile | opMoves | opShots}, {"waitid", 0}, {"futex_wait", 0},
	{"futex_wake", 0}, {"futex_waitv", 0}, {"fixed_fd_install", opFile}, {"ftruncate", opFile},
	{"bind", opFile}, {"listen", opFile}, {"recv_zc", opFile | opShots}, {"epoll_wait", opFile},
	{"readv_fixed", opFile | opMoves}, {"writev_fixed", opFile | opMoves}, {"pipe", 0},
}

// operationName names an opcode as a call: "io_uring:recv". 255 is a completion of
// which the operation is not known.
func operationName(code uint32) string {
	switch {
	case code < uint32(len(operations)):
		return recording.UringPrefix + operations[code].name
	case code == 255:
		return recording.UringPrefix + "unknown"
	}
	return recording.UringPrefix + strconv.FormatUint(uint64(code), 10)
}

func operationKinds() (table [128]uint8) {
	for code, op := range operations {
		table[code] = op.kind
	}
	return table
}

// operationMoves tells whether an operation's result is bytes.
func operationMoves(name string) bool {
	for _, op := range operations {
		if op.name == name {
			return op.kind&opMoves != 0
		}
	}
	return false
}

// Which arguments the tracepoints have: enum submit_shape and complete_shape.
const (
	submitReq = 1 + iota
	submitCtxReq
	submitCtxOp
)

const (
	completeCQE = 1 + iota
	completeReq
	completeData
)

// uringShape is how this kernel tells of io_uring's operations.
type uringShape struct {
	tracepoint       string // of submissions
	submit, complete uint8
	flags, overflow  bool
}

// shapeOf reads it out of the kernel's types (include/trace/events/io_uring.h, which
// changed in 5.12, 5.15, 5.18, 5.19, 6.4 and 6.16).
func shapeOf(types *btf.Spec) (s uringShape, lack *kernel.Lack) {
	lack = &kernel.Lack{
		Why:  "this kernel's tracepoints io_uring:io_uring_submit_req (before 6.4: io_uring_submit_sqe) and io_uring_complete are missing, or their arguments are not known",
		Cure: "use a kernel from 5.10 on, built with CONFIG_IO_URING=y, and trace what workers and pollers of io_uring do with snag profile",
	}
	s.tracepoint = "io_uring_submit_req"
	args, err := kernel.TracepointArgs(types, s.tracepoint)
	if err != nil {
		s.tracepoint = "io_uring_submit_sqe"
		if args, err = kernel.TracepointArgs(types, s.tracepoint); err != nil {
			return s, lack
		}
	}
	switch {
	case len(args) > 0 && args[0] == "struct io_kiocb *":
		s.submit = submitReq
	case len(args) == 7:
		s.submit = submitCtxReq
	case len(args) == 5:
		s.submit = submitCtxOp
	default:
		return s, lack
	}
	if args, err = kernel.TracepointArgs(types, "io_uring_complete"); err != nil {
		return s, lack
	}
	switch {
	case len(args) == 3 && args[2] == "struct io_uring_cqe *":
		s.complete = completeCQE
	case len(args) == 7 || len(args) == 5:
		s.complete = completeReq
	case len(args) == 3 || len(args) == 4:
		s.complete, s.flags = completeData, len(args) == 4
	default:
		return s, lack
	}
	s.overflow = kernel.HasTracepoint(types, "io_uring_cqe_overflow")
	return s, nil
}

// hasUring tells whether the kernel has io_uring at all.
func hasUring(types *btf.Spec) bool {
	var t *btf.Struct
	return types.TypeByName("io_ring_ctx", &t) == nil
}

// uringHooks are the programs with their tracepoints, in the order in which they are
// attached: an operation that is seen to begin is seen to end.
func (l *loaded) uringHooks() (hooks []uringHook) {
	if l.uring.submit == 0 {
		return nil
	}
	hooks = []uringHook{{"io_uring_complete", l.objects.CompleteOp}, {l.uring.tracepoint, l.objects.SubmitOp}}
	if l.uring.overflow {
		hooks = append(hooks, uringHook{"io_uring_cqe_overflow", l.objects.Overflown})
	}
	return hooks
}

type uringHook struct {
	tracepoint string
	program    *ebpf.Program
}

// idleOperations wait for something that may never come, as idle threads do.
var idleOperations = map[string]bool{
	"accept": true, "poll_add": true, "timeout": true, "link_timeout": true, "epoll_wait": true, "recv": true, "recvmsg": true,
	"recv_zc": true, "read_multishot": true, "waitid": true, "futex_wait": true, "futex_waitv": true, "msg_ring": true, "uring_cmd": true,
}

// waitsForWork tells whether it is no news that a call, or an operation of io_uring,
// lasts.
func waitsForWork(call string, idle func(string) bool) bool {
	if op, ok := strings.CutPrefix(call, recording.UringPrefix); ok {
		return idleOperations[op]
	}
	return idle(call)
}

// ringsOf counts the processes that have a ring of io_uring open.
func ringsOf(proc string, pids []int) (n int) {
	for _, pid := range pids {
		dir := filepath.Join(proc, strconv.Itoa(pid), "fd")
		names, err := os.ReadDir(dir)
		if err != nil {
			continue // ended, or of another user
		}
		for _, name := range names {
			if link, err := os.Readlink(filepath.Join(dir, name.Name())); err == nil && link == "anon_inode:[io_uring]" {
				n++
				break
			}
		}
	}
	return n
}
