package strace

import (
	"bytes"
	"net/netip"
	"strconv"

	"snag/recording"
)

// descriptor is one life of a number: from what opened it to its close.
type descriptor struct {
	row   recording.FD
	cloex bool
	told  bool // its row is in the recording
}

// mostFDs bounds what is remembered of one process.
const mostFDs = 1 << 20

// opened notes what a call gave. What the call could not tell, -y does.
func (t *Trace) opened(th *thread, name string, at int64, fd int32, args, tail []byte) {
	if fd < 0 || len(th.proc.fds) >= mostFDs {
		return
	}
	d := &descriptor{row: recording.FD{T: recording.Time(at), PID: th.proc.pid, FD: int(fd), Kind: "other"}, cloex: hasFlag(args, "CLOEXEC")}
	row := &d.row
	switch name {
	case "open", "openat", "openat2", "creat":
		row.Kind, row.Name = "file", quoted(args)
	case "socket":
		row.Kind = "socket"
		row.Proto = protoOf(args)
	case "accept", "accept4":
		row.Kind, row.Proto, row.State = "socket", "tcp", "ESTABLISHED"
		row.Remote = address(args)
		if listener := th.proc.fds[firstFD(args)]; listener != nil && listener.row.Proto != "" {
			row.Local, row.Proto = listener.row.Local, listener.row.Proto
		}
	case "dup", "dup2", "dup3", "fcntl", "fcntl64":
		if (name == "fcntl" || name == "fcntl64") && !bytes.Contains(args, []byte("F_DUPFD")) {
			return
		}
		if old := th.proc.fds[firstFD(args)]; old != nil {
			row.Kind, row.Name, row.Proto, row.State, row.Local, row.Remote = old.row.Kind, old.row.Name, old.row.Proto, old.row.State, old.row.Local, old.row.Remote
		}
	case "epoll_create", "epoll_create1":
		row.Kind = "epoll"
	case "eventfd", "eventfd2":
		row.Kind = "eventfd"
	case "timerfd_create":
		row.Kind = "timerfd"
	case "signalfd", "signalfd4":
		row.Kind = "signalfd"
	case "inotify_init", "inotify_init1":
		row.Kind = "inotify"
	}
	describe(row, tail)
	th.proc.fds[fd] = d
}

// paired notes the two descriptors of pipe, pipe2 and socketpair.
func (t *Trace) paired(th *thread, name string, at int64, args []byte) {
	i := bytes.LastIndexByte(args, '[')
	if i < 0 {
		return
	}
	rest := args[i+1:]
	for range 2 {
		n, after := number(skipSpaces(rest))
		if len(after) == len(rest) {
			return
		}
		kind := "pipe"
		if name == "socketpair" {
			kind = "socket"
		}
		d := &descriptor{row: recording.FD{T: recording.Time(at), PID: th.proc.pid, FD: int(n), Kind: kind, Name: kind}}
		if kind == "socket" {
			d.row.Proto = "unix"
		}
		describe(&d.row, after)
		th.proc.fds[int32(n)] = d
		if _, rest, _ = bytes.Cut(after, []byte(",")); rest == nil {
			return
		}
	}
}

// named notes an address that a call gave a socket.
func (t *Trace) named(th *thread, name string, fd int32, at int64, args []byte) {
	to := address(args)
	if to == "" {
		return
	}
	d := th.proc.fds[fd]
	if d == nil || d.told { // told of already: this is its next state
		next := &descriptor{row: recording.FD{T: recording.Time(at), PID: th.proc.pid, FD: int(fd), Kind: "socket"}}
		if d != nil {
			next.row = d.row
			next.row.T = recording.Time(at)
		}
		d = next
		th.proc.fds[fd] = d
	}
	if name == "bind" {
		d.row.Local = to
	} else {
		d.row.Remote = to
	}
}

// use tells the recording of a descriptor when a call is counted on it.
func (t *Trace) use(th *thread, fd int32, at int64, args []byte) {
	d := th.proc.fds[fd]
	if d == nil {
		d = &descriptor{row: recording.FD{T: recording.Time(at), PID: th.proc.pid, FD: int(fd), Kind: "other"}}
		_, after := number(args)
		if !describe(&d.row, after) {
			d.told = true // it was there before the trace, and nothing says what it is
		}
		if len(th.proc.fds) < mostFDs {
			th.proc.fds[fd] = d
		}
	}
	if d.told {
		return
	}
	if i := bytes.IndexByte(args, '<'); i > 0 && i < 10 {
		describe(&d.row, args[i:])
	}
	d.told = true
	if t.fdRows++; t.fdRows <= mostFDRows {
		t.out.Append(d.row)
	}
}

// mostFDRows of a trace are kept; further ones are counted.
const mostFDRows = 100_000

// executed closes what execve(2) closes, and gives the process its name.
func (t *Trace) executed(th *thread, args []byte) {
	for fd, d := range th.proc.fds {
		if d.cloex {
			delete(th.proc.fds, fd)
		}
	}
	name := quoted(args)
	if i := bytes.LastIndexByte([]byte(name), '/'); i >= 0 {
		name = name[i+1:]
	}
	th.proc.comm = name[:min(len(name), 15)] // TASK_COMM_LEN
}

// firstFD is a call's first argument where it is a descriptor, else -1.
func firstFD(args []byte) int32 {
	var n int32
	i := 0
	for i < len(args) && i < 9 && args[i] >= '0' && args[i] <= '9' {
		n = n*10 + int32(args[i]-'0')
		i++
	}
	if i == 0 || i < len(args) && args[i] != ',' && args[i] != '<' && args[i] != ' ' && args[i] != ')' {
		return -1
	}
	return n
}

// describe reads what -y and -yy say of a descriptor: "</etc/hosts>",
// "<TCP:[127.0.0.1:80->127.0.0.1:4312]>", "<socket:[1234]>", "<pipe:[5]>".
func describe(row *recording.FD, b []byte) bool {
	if len(b) < 2 || b[0] != '<' {
		return false
	}
	// -y may show whether a file was deleted behind the bracket; in a name > is \76.
	end := bytes.IndexByte(b, '>')
	if i := bytes.Index(b, []byte("]>")); i >= 0 && bytes.IndexByte(b[:i], '[') >= 0 && !bytes.HasPrefix(b, []byte("</")) {
		end = i + 1
	}
	if end < 0 {
		return false
	}
	s := string(b[1:end])
	kind, inside, _ := bytes.Cut([]byte(s), []byte(":["))
	row.Name = s
	switch k := string(kind); k {
	case "TCP", "TCPv6", "UDP", "UDPv6":
		row.Kind, row.Proto = "socket", "tcp"
		if k[0] == 'U' {
			row.Proto = "udp"
		}
		inside, _ = bytes.CutSuffix(inside, []byte("]"))
		from, to, both := bytes.Cut(inside, []byte("->"))
		if both || bytes.ContainsRune(from, ':') {
			row.Local, row.Remote = string(from), string(to)
		}
		if both {
			row.State = "ESTABLISHED"
		}
	case "UNIX", "UNIX-STREAM", "UNIX-DGRAM", "UNIX-SEQPACKET":
		row.Kind, row.Proto = "socket", "unix"
	case "socket", "NETLINK":
		row.Kind = "socket"
	case "pipe":
		row.Kind = "pipe"
	case "anon_inode":
		row.Kind = "other"
		for _, k := range []string{"epoll", "eventfd", "timerfd", "signalfd", "inotify"} {
			if bytes.Contains(inside, []byte(k)) {
				row.Kind = k
			}
		}
	default:
		row.Kind = "file"
		if len(s) > 5 && s[:5] == "/dev/" {
			row.Kind = "device"
		}
	}
	return true
}

func protoOf(args []byte) string {
	switch {
	case bytes.HasPrefix(args, []byte("AF_UNIX")), bytes.HasPrefix(args, []byte("AF_LOCAL")):
		return "unix"
	case bytes.HasPrefix(args, []byte("AF_NETLINK")):
		return "netlink"
	case !bytes.HasPrefix(args, []byte("AF_INET")):
		return ""
	case hasFlag(args, "SOCK_DGRAM"):
		return "udp"
	case hasFlag(args, "SOCK_STREAM"):
		return "tcp"
	}
	return ""
}

// address reads "{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("1.2.3.4")}"
// and its kin for IPv6 and UNIX sockets.
func address(args []byte) string {
	port := -1
	if _, rest, ok := bytes.Cut(args, []byte("_port=htons(")); ok {
		n, _ := number(rest)
		port = int(n)
	}
	var host string
	if _, rest, ok := bytes.Cut(args, []byte("inet_addr(\"")); ok {
		host = upto(rest, '"')
	} else if _, rest, ok := bytes.Cut(args, []byte("inet_pton(AF_INET6, \"")); ok {
		host = upto(rest, '"')
	} else if _, rest, ok := bytes.Cut(args, []byte("sun_path=")); ok {
		if rest, ok := bytes.CutPrefix(rest, []byte("@")); ok {
			return "@" + quoted(rest)
		}
		return quoted(rest)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || port < 0 {
		return ""
	}
	return netip.AddrPortFrom(ip, uint16(port)).String()
}

func upto(b []byte, end byte) string {
	i := bytes.IndexByte(b, end)
	if i < 0 {
		return ""
	}
	return string(b[:i])
}

// quoted is the first string among a call's arguments, with its escapes.
func quoted(args []byte) string {
	i := bytes.IndexByte(args, '"')
	if i < 0 {
		return ""
	}
	b := args[i:]
	for j := 1; j < len(b); j++ {
		switch b[j] {
		case '\\':
			j++
		case '"':
			if s, err := strconv.Unquote(string(b[:j+1])); err == nil {
				return s
			}
			return string(b[1:j])
		}
	}
	return string(b[1:])
}

// hasFlag tells whether a flag's name stands among the arguments.
func hasFlag(args []byte, flag string) bool { return bytes.Contains(args, []byte(flag)) }
