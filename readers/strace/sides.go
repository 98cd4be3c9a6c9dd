package strace

import (
	"bytes"
	"strconv"
	"strings"

	"snag/recording"
)

// takeSide tells who opened a connection that was there before the trace: whose local
// port the process listens on, else whose port is not ephemeral (from 32768 on,
// ip_local_port_range), it serves.
func (t *Trace) takeSide(d *descriptor, p *process) {
	r := &d.row
	t.sockets = t.sockets || r.Kind == "socket"
	if r.Kind == "file" && !d.log && d.turn == (turn{}) && looksLikeLog(r.Name) {
		d.log = true
	}
	if d.side != noSide || r.Proto != "tcp" || r.Remote == "" || r.Local == "" {
		return
	}
	local, _ := strconv.Atoi(recording.Port(r.Local))
	remote, _ := strconv.Atoi(recording.Port(r.Remote))
	listens := false
	p.fds.each(func(_ int32, k *descriptor) {
		listens = listens || k.row.State == "LISTEN" && recording.Port(k.row.Local) == recording.Port(r.Local)
	})
	const ephemeral = 32768
	switch {
	case listens, local < ephemeral && remote >= ephemeral:
		d.side = serves
	case remote < ephemeral && local >= ephemeral:
		d.side = asker
	}
}

// looksLikeLog is of files that were open before the trace.
func looksLikeLog(name string) bool {
	return strings.HasSuffix(name, ".log") || strings.HasPrefix(name, "/var/log/")
}

// listening notes a listener.
func (t *Trace) listening(th *thread, fd int32) {
	if d := th.proc.fds.get(fd); d != nil && d.row.Proto == "tcp" {
		d.row.State, d.told = "LISTEN", false
	}
}

// limited notes the limit of descriptors: prlimit64(0, RLIMIT_NOFILE, NULL,
// {rlim_cur=1024, rlim_max=4*1024}).
func (p *process) limited(args []byte) {
	if !bytes.Contains(args, []byte("RLIMIT_NOFILE")) {
		return
	}
	i := bytes.LastIndex(args, []byte("rlim_cur="))
	if bytes.HasPrefix(args, []byte("0, RLIMIT_NOFILE, {")) { // it sets it
		i = bytes.Index(args, []byte("rlim_cur="))
	}
	if i < 0 || bytes.HasPrefix(args, []byte("0x")) {
		return
	}
	if pid, rest := number(args); pid != 0 && int(pid) != p.pid && len(rest) < len(args) {
		return
	}
	cur := args[i+len("rlim_cur="):]
	if n, ok := product(cur); ok {
		p.limit = n
	}
	if _, hard, ok := bytes.Cut(cur, []byte("rlim_max=")); ok {
		if n, ok := product(hard); ok {
			p.hard = n
		}
	}
}

// product reads a number as strace shows limits: 1024, 4*1024, RLIM64_INFINITY.
func product(b []byte) (int, bool) {
	n, rest := number(b)
	if len(rest) == len(b) {
		return 0, false
	}
	if len(rest) > 0 && rest[0] == '*' {
		m, after := number(rest[1:])
		if len(after) == len(rest)-1 {
			return 0, false
		}
		n *= m
	}
	return int(n), true
}

// transferred follows bytes that a call moved.
func (t *Trace) transferred(th *thread, d *descriptor, class class, begin, end int64, args []byte, l *Line) {
	read := class&reads != 0
	if t.o.Moved != nil && d.row.Kind == "socket" {
		t.o.Moved(Moved{th.proc.pid, th.proc.comm, d.row.Local, d.row.Remote, read, begin, end})
	}
	if d.side != noSide {
		t.moved(th, d, read, begin, end, l.Took, uint64(l.Ret))
		if d.content == nil || d.content.looks < mostPeeked {
			t.learn(d, read, args, uint64(l.Ret))
		}
	}
	switch {
	case read && d.row.Kind == "socket":
		t.heard(th, d, begin, end)
	case !read && d.log:
		t.logged(d, end, uint64(l.Ret))
	}
}
