package sockets

import (
	"fmt"
	"sort"
	"syscall"

	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/recording"
)

const (
	callSend = iota
	callRecv
	callSocket
	callOther
)

func (r *running) drainErrors(suffix string) {
	var rows []recording.CallError
	err := kernel.Drain(r.kernel.maps.Maps["errors"+suffix], "sockets", func(k *kernelErrorKey, v *kernelErrorValue) {
		if int32(k.Nr) < 0 { // rt_sigreturn ends with what the call that a signal interrupted had returned: counted already
			return
		}
		row := errorRow(r.since, *k, *v, r.book)
		r.fileRow(&row, *k)
		rows = append(rows, row)
	})
	if err != nil {
		r.ledger.fail("sockets.errors", err)
	}
	rows, lost := busiest(addErrors(rows), mostRows, func(e recording.CallError) uint64 { return e.N })
	r.ledger.lose("sockets.errors", lost)
	for _, row := range rows {
		if row.PID != r.env.SelfPID {
			r.env.Sink.Append(row)
		}
	}
}

// otherCalls are those that want a descriptor or a port.
var otherCalls = map[uint32]string{
	unix.SYS_ACCEPT: "accept", unix.SYS_ACCEPT4: "accept", unix.SYS_SOCKET: "socket call", unix.SYS_SOCKETPAIR: "socketpair",
	unix.SYS_CONNECT: "connect", unix.SYS_BIND: "bind", unix.SYS_OPENAT: "open", unix.SYS_OPENAT2: "open",
	unix.SYS_PIPE2: "pipe", unix.SYS_DUP: "dup", unix.SYS_DUP3: "dup", unix.SYS_EVENTFD2: "eventfd",
	unix.SYS_EPOLL_CREATE1: "epoll_create", unix.SYS_TIMERFD_CREATE: "timerfd_create", unix.SYS_INOTIFY_INIT1: "inotify_init",
	unix.SYS_SENDTO: "send", unix.SYS_SENDMSG: "send", unix.SYS_LISTEN: "listen",
}

func errorRow(t recording.Time, k kernelErrorKey, v kernelErrorValue, who names) recording.CallError {
	row := recording.CallError{T: t, Netns: uint64(v.Flow.Netns), PID: int(k.Pid), Comm: kernel.Text(v.Comm[:]), N: v.N, Errno: errnoName(k.Err)}
	switch k.Call {
	case callSend:
		row.Call = "send"
	case callRecv:
		row.Call = "recv"
	case callSocket:
		row.Call = "socket"
	default:
		row.Call = otherCalls[k.Nr]
		if row.Call == "" {
			row.Call = fmt.Sprintf("call %d", k.Nr)
		}
		if fd := int(v.Fd); fd >= 0 && (row.Call == "accept" || row.Call == "connect" || row.Call == "bind") {
			row.FD = &fd
		}
	}
	switch k.Proto {
	case unix.IPPROTO_TCP:
		row.Proto = "tcp"
	case unix.IPPROTO_UDP:
		row.Proto = "udp"
	case 0:
		if k.Call != callOther {
			row.Proto = "unix"
		}
	default:
		row.Proto = fmt.Sprint("protocol ", k.Proto)
	}
	if v.Flow.Family != 0 {
		e := endsOf(v.Flow)
		row.Local = e.local
		if v.Flow.Rport != 0 {
			row.Remote = e.remote
		}
		if row.PID == 0 {
			row.PID, row.Comm = whoIs(kernelCount{Inode: k.Inode}, e, who)
		}
	}
	return row
}

// errnoName is a constant's name as strace prints it.
func errnoName(n uint16) string {
	if name := unix.ErrnoName(syscall.Errno(n)); name != "" {
		return name
	}
	return fmt.Sprint("errno ", n)
}

// addErrors adds up what only differs in addresses: the kernel keeps a row for
// each socket that got an error, a reader wants one for each process and service.
func addErrors(rows []recording.CallError) []recording.CallError {
	type key struct {
		netns       uint64
		pid         int
		call, errno string
		proto, port string
		mount       string
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].N > rows[j].N })
	at := map[key]int{}
	var out []recording.CallError
	for _, r := range rows {
		// The service's port is the lower of the two nearly always; it only keeps
		// the rows of two services apart.
		port := recording.Port(r.Local)
		if p := recording.Port(r.Remote); p != "" && (len(p) < len(port) || len(p) == len(port) && p < port) {
			port = p
		}
		k := key{r.Netns, r.PID, r.Call, r.Errno, r.Proto, port, r.Mount}
		if i, ok := at[k]; ok {
			out[i].N += r.N
			continue
		}
		at[k] = len(out)
		out = append(out, r)
	}
	return out
}
