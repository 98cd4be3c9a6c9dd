package strace

import (
	"strings"

	"snag/recording"
)

// failures are the errors that say something of connections, or of what a process
// may have. Others are in the table of calls.
var failures = map[string]bool{
	"EPIPE": true, "ECONNRESET": true, "ECONNREFUSED": true, "ECONNABORTED": true, "ETIMEDOUT": true, "EHOSTUNREACH": true, "ENETUNREACH": true,
	"EMFILE": true, "ENFILE": true, "EADDRNOTAVAIL": true, "EADDRINUSE": true, "ENOBUFS": true,
}

type failureKey struct {
	pid                      int
	call, errno, local, peer string
}

// failed counts such an error of a call.
func (t *Trace) failed(th *thread, id uint16, d *descriptor, at int64, name uint16) {
	for len(t.telling) <= int(name) {
		t.telling = append(t.telling, failures[t.errnos.names[len(t.telling)]])
	}
	if !t.telling[name] {
		return
	}
	errno, class := t.errnos.names[name], t.calls.class[id]
	if class&opens == 0 && (d == nil || d.row.Kind != "socket") {
		return // a pipe whose reader is gone, a wait that timed out
	}
	k := failureKey{pid: th.proc.pid, call: t.calls.names[id], errno: errno}
	switch {
	case class&reads != 0:
		k.call = "recv"
	case class&writes != 0:
		k.call = "send"
	default:
		k.call = strings.TrimRight(k.call, "0123456789")
		if k.call == "openat" {
			k.call = "open"
		}
	}
	proto := ""
	if d != nil {
		k.local, k.peer, proto = d.row.Local, d.row.Remote, d.row.Proto
	}
	row := t.errors[k]
	if row == nil {
		if len(t.errors) >= mostFailures {
			return
		}
		row = &recording.CallError{PID: k.pid, Comm: th.proc.comm, Call: k.call, Errno: errno, Proto: proto, Local: k.local, Remote: k.peer}
		t.errors[k] = row
	}
	row.N++
	if d != nil && class&(reads|writes) != 0 && proto == "tcp" {
		t.reset(th, d, at, errno)
	}
}

// mostFailures of a second are told apart.
const mostFailures = 4096

// reset tells of the reset that a connection was ended by: the kernel gives a call
// ECONNRESET only for one (tcp_reset, net/ipv4/tcp_input.c), and EPIPE to who did not
// shut it down itself.
func (t *Trace) reset(th *thread, d *descriptor, at int64, errno string) {
	if d.reset || errno != "ECONNRESET" && (errno != "EPIPE" || d.shut) {
		return
	}
	d.reset = true
	state := "ESTABLISHED"
	if errno == "EPIPE" {
		state = "CLOSE_WAIT"
	}
	if t.resetRows++; t.resetRows > mostFDRows {
		return
	}
	t.out.Append(recording.Reset{
		T: recording.Time(at - at%t.o.Second), Dir: "received", Local: d.row.Local, Remote: d.row.Remote, State: state, N: 1, PID: th.proc.pid, Comm: th.proc.comm,
	})
}

func (t *Trace) flushFailures() {
	for k, row := range t.errors {
		row.T = recording.Time(t.second)
		t.out.Append(*row)
		delete(t.errors, k)
	}
}
