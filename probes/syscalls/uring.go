package syscalls

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"snag/internal/kernel"
	"snag/probes/syscalls/uring"
)

// uringBit is NR_URING: the number is an opcode of io_uring's.
const uringBit = 1 << 29

// mostOperations is OPERATIONS.
const mostOperations = 16384

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

// hasUring reports whether the kernel has io_uring at all.
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

// ringsOf counts the processes that have a ring of io_uring open.
func ringsOf(proc string, pids []int) (n int) {
	for _, pid := range pids {
		dir := filepath.Join(proc, strconv.Itoa(pid), "fd")
		names, err := os.ReadDir(dir)
		if err != nil {
			continue // ended, or of another user
		}
		for _, name := range names {
			if link, err := os.Readlink(filepath.Join(dir, name.Name())); err == nil && link == uring.Link {
				n++
				break
			}
		}
	}
	return n
}
