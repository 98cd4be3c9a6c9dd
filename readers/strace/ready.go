package strace

import "bytes"

// readable notes what poll and its kin said can be read: requests wait from then on
// at the latest.
func (t *Trace) readable(th *thread, name string, end int64, args []byte, l *Line) {
	if l.Errno != nil || l.Ret <= 0 {
		return
	}
	switch name {
	case "poll", "ppoll":
		// ([{fd=3, revents=POLLIN}])
		for rest := l.Tail; ; {
			var ok bool
			if _, rest, ok = bytes.Cut(rest, []byte("{fd=")); !ok {
				return
			}
			fd := firstFD(rest)
			one := rest[:max(0, bytes.IndexByte(rest, '}'))]
			if bytes.Contains(one, []byte("POLLIN")) {
				th.ready(fd, end)
			}
		}
	case "select", "pselect6", "_newselect":
		// (in [5 7], left {…})
		if _, rest, ok := bytes.Cut(l.Tail, []byte("in [")); ok {
			for {
				n, after := number(skipSpaces(rest))
				if len(after) == len(skipSpaces(rest)) {
					return
				}
				th.ready(int32(n), end)
				rest = after
				if i := bytes.IndexAny(rest, " ]"); i < 0 || rest[i] == ']' {
					return
				}
			}
		}
	default: // epoll_wait: [{events=EPOLLIN, data={u32=9, u64=9}}], 128, -1
		for rest := args; ; {
			var ok bool
			if _, rest, ok = bytes.Cut(rest, []byte("{events=")); !ok {
				return
			}
			kind, data, ok := bytes.Cut(rest, []byte("u64="))
			if !ok {
				return
			}
			if bytes.HasPrefix(kind, []byte("EPOLLIN")) || bytes.Contains(kind, []byte("EPOLLIN")) {
				n, _ := userData(data)
				if fd, ok := th.proc.polls[n]; ok {
					th.ready(fd, end)
				}
			}
		}
	}
}

// registered notes which descriptor an epoll's data stands for:
// epoll_ctl(3, EPOLL_CTL_ADD, 7, {events=EPOLLIN, data={u32=7, u64=7}}).
func (t *Trace) registered(th *thread, args []byte) {
	_, rest, ok := bytes.Cut(args, []byte("EPOLL_CTL_"))
	if !ok || len(rest) == 0 || rest[0] == 'D' {
		return
	}
	_, rest, _ = bytes.Cut(rest, []byte(", "))
	fd := firstFD(rest)
	_, rest, ok = bytes.Cut(rest, []byte("u64="))
	if fd < 0 || !ok {
		return
	}
	n, _ := userData(rest)
	if th.proc.polls == nil {
		th.proc.polls = map[uint64]int32{}
	}
	if len(th.proc.polls) < mostFDs {
		th.proc.polls[n] = fd
	}
	if d := th.proc.fds.get(fd); d != nil {
		d.polled = true
	}
}

// userData is decimal, or with -X raw and of pointers hexadecimal.
func userData(b []byte) (uint64, []byte) {
	if bytes.HasPrefix(b, []byte("0x")) {
		n, rest := hex(b[2:])
		return uint64(n), rest
	}
	var n uint64
	for len(b) > 0 && b[0] >= '0' && b[0] <= '9' {
		n, b = n*10+uint64(b[0]-'0'), b[1:]
	}
	return n, b
}

func (th *thread) ready(fd int32, at int64) {
	if d := th.proc.fds.get(fd); d != nil {
		if d.polled = true; d.ready == 0 {
			d.ready = at
		}
	}
}
