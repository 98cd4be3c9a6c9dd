package strace

import (
	"bytes"
	"net/netip"

	"snag/recording"
)

// descriptor is one life of a number: from what opened it to its close.
type descriptor struct {
	row   recording.FD
	cloex bool
	told  bool // its row is in the recording
	at    int  // 1 + its place in Trace.untold; 0: it is not there
	kept  bool // some other list has it
	id    uint64
	owner *process
	shown bool // its row as a socket is, too

	side      side
	turn      turn
	counted   counted
	hadAnswer bool  // one came, or was sent
	ready     int64 // poll said so, ns
	accepted  int64 // ns; 0 once it was read
	polled    bool
	closed    bool
	shut      bool // by the process itself
	reset     bool

	log      bool // what is written to it is appended to a file
	followed bool
	size     int64
	wrote    int64 // last, ns
	grown    int64 // as last told

	rhythm  rhythm
	content *content // nil: not looked into
	// seenOpened: the trace has its first byte.
	seenOpened bool
	spare      *descriptor // the next of those that may be used again
}

// life makes a descriptor of a process.
func (t *Trace) life(p *process, fd int32, at int64) *descriptor {
	t.lastID++
	d := t.spareFD
	if d == nil {
		d = &descriptor{}
	}
	t.spareFD = d.spare
	*d = descriptor{row: recording.FD{T: recording.Time(at), PID: p.pid, FD: int(fd), Kind: "other"}, owner: p, id: t.lastID}
	return d
}

// release has the memory of a closed file used again: a server opens one for each request.
func (t *Trace) release(d *descriptor) {
	if d.row.Kind != "file" || d.row.Proto != "" || d.log || d.kept || d.shown {
		return
	}
	if d.at != 0 {
		t.untold[d.at-1] = nil // nothing of it was to be told: see tellFDs
	}
	d.spare, t.spareFD = t.spareFD, d
}

// inherited is a descriptor in a process that was forked.
func (d *descriptor) inherited(p *process) *descriptor {
	own := &descriptor{row: d.row, cloex: d.cloex, id: d.id, owner: p, side: d.side, accepted: d.accepted, log: d.log}
	return own
}

// mostFDs are known at the same time, of all processes together: some 22 MB.
const mostFDs = 3 << 13

// noRoom is true when as many descriptors are known as may be. No line says that those of a
// process that ended are closed, so that all are counted again first.
func (t *Trace) noRoom() bool {
	if t.fds < mostFDs {
		return false
	}
	if t.ended {
		t.fds, t.ended = 0, false
		counted := map[*fdTable]bool{}
		for _, th := range t.threads {
			if table := th.proc.fds; !counted[table] {
				counted[table] = true
				t.fds += table.n
			}
		}
	}
	if t.fds < mostFDs {
		return false
	}
	t.unknownFDs++
	return true
}

// knows puts a descriptor into its process' table and counts it.
func (t *Trace) knows(p *process, fd int32, d *descriptor) {
	if p.fds.get(fd) == nil {
		t.fds++
	}
	p.fds.set(fd, d)
}

// forgets is the opposite of knows.
func (t *Trace) forgets(p *process, fd int32) {
	if p.fds.get(fd) != nil {
		t.fds--
	}
	p.fds.drop(fd)
}

// opened notes what a call gave. What the call could not tell, -y does.
func (t *Trace) opened(th *thread, name string, at int64, fd int32, args, tail []byte) {
	if fd < 0 || name == "dup2" && firstFD(args) == fd { // dup2(2): onto itself it does nothing
		return
	}
	old := th.proc.fds.get(fd)
	t.closed(old, at) // dup2, or a close that the trace left out
	if old == nil && t.noRoom() {
		return
	}
	d := t.life(th.proc, fd, at)
	d.cloex, d.seenOpened = hasFlag(args, "CLOEXEC"), true
	row := &d.row
	switch name {
	case "open", "openat", "openat2", "creat":
		if row.Kind = "file"; len(tail) == 0 || tail[0] != '<' { // else -y has its whole path
			row.Name = t.texts.quoted(args)
		}
		d.log = hasFlag(args, "O_APPEND")
	case "socket":
		row.Kind = "socket"
		row.Proto = protoOf(args)
	case "accept", "accept4":
		row.Kind, row.Proto, row.State = "socket", "tcp", "ESTABLISHED"
		row.Remote = address(args)
		d.accepted, d.side = at, serves
		if listener := th.proc.fds.get(firstFD(args)); listener != nil && listener.row.Proto != "" {
			row.Local, row.Proto = listener.row.Local, listener.row.Proto
		} else if row.Remote == "" || row.Remote[0] == '@' || row.Remote[0] == '/' {
			row.Proto = ""
		}
	case "dup", "dup2", "dup3", "fcntl", "fcntl64":
		if (name == "fcntl" || name == "fcntl64") && !bytes.Contains(args, []byte("F_DUPFD")) {
			return
		}
		if old := th.proc.fds.get(firstFD(args)); old != nil {
			d.log, d.side, d.accepted = old.log, old.side, old.accepted
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
	t.texts.describe(row, tail)
	t.knows(th.proc, fd, d)
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
		if len(after) == len(rest) || t.noRoom() {
			return
		}
		kind := "pipe"
		if name == "socketpair" {
			kind = "socket"
		}
		d := t.life(th.proc, int32(n), at)
		d.row.Kind, d.row.Name = kind, kind
		if kind == "socket" {
			d.row.Proto = "unix"
		}
		t.texts.describe(&d.row, after)
		t.knows(th.proc, int32(n), d)
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
	d := th.proc.fds.get(fd)
	if d == nil {
		if t.noRoom() {
			return
		}
		d = t.life(th.proc, fd, at)
		d.row.Kind = "socket"
		t.knows(th.proc, fd, d)
	}
	d.row.T, d.told = recording.Time(at), false // told of already: this is its next state
	if name == "bind" {
		d.row.Local = to
		return
	}
	d.row.Remote = to
	if d.row.Proto == "tcp" {
		d.side, d.row.State = asker, "ESTABLISHED"
	}
}

// use tells the recording of a descriptor when a call is counted on it.
func (t *Trace) use(th *thread, fd int32, at int64, args []byte) *descriptor {
	d := th.proc.fds.get(fd)
	if d != nil && th.unsure > 0 {
		if th.unsure--; t.another(d, args) {
			t.parted(th)
			d = nil
		}
	}
	if d != nil && d.told {
		return d
	}
	if d == nil {
		d = t.life(th.proc, fd, at)
		_, after := number(args)
		if !t.texts.describe(&d.row, after) {
			d.told = true // it was there before the trace, and nothing says what it is
		}
		if !t.noRoom() {
			t.knows(th.proc, fd, d)
		}
	}
	if d.told {
		return d
	}
	if i := bytes.IndexByte(args, '<'); i > 0 && i < 10 && !shows(args[i+1:], d.row.Name) {
		t.texts.describe(&d.row, args[i:])
	}
	d.told = true
	t.takeSide(d, th.proc)
	if t.fdRows < mostFDRows && d.at == 0 {
		if len(t.untold) == mostUntold {
			t.forgetUntold()
		}
		t.untold = append(t.untold, d)
		d.at = len(t.untold)
	}
	if k := &d.row; k.Kind == "socket" && (k.Proto == "tcp" || k.Proto == "udp") && k.Local+k.Remote != "" && !d.shown {
		t.looks.fresh = append(t.looks.fresh, d)
		d.kept = true
	}
	return d
}

// shows tells whether -y shows what is known already.
func shows(b []byte, name string) bool {
	return name != "" && len(b) > len(name) && b[len(name)] == '>' && string(b[:len(name)]) == name
}

// another tells whether -yy says of a descriptor that it is another file or connection.
func (t *Trace) another(d *descriptor, args []byte) bool {
	i := bytes.IndexByte(args, '<')
	if i < 0 || i > 10 || d.row.Name == "" {
		return false
	}
	var row recording.FD
	if shows(args[i+1:], d.row.Name) || !t.texts.describe(&row, args[i:]) || row.Name == d.row.Name {
		return false
	}
	whole := func(r *recording.FD) bool { return r.Kind == "file" || r.Local != "" && r.Remote != "" }
	return whole(&row) && whole(&d.row)
}

// tellFDs writes the rows of the descriptors of the second. A file that was opened and
// closed in it says nothing that its calls do not: a look once a second would have missed
// it; of sockets that were, some are told of.
func (t *Trace) tellFDs() {
	brief := 0
	for _, d := range t.untold {
		if d == nil {
			continue
		}
		if d.at = 0; d.closed {
			if brief++; d.row.Kind != "socket" && !d.log || brief > mostBrief || t.fdRows > manyFDs {
				continue
			}
		}
		t.fdRows++
		d.row.PID = d.owner.pid
		t.out.Append(d.row)
	}
	clear(t.untold)
	t.untold = t.untold[:0]
}

// mostUntold is how many descriptors may wait for the end of their second. Where times were set
// back, a second may last for the rest of the file.
const mostUntold = 1 << 14

// forgetUntold shortens the list. Descriptors that were closed, or whose process ended, need no
// row. If most of the list remains after that, its rows are written now.
func (t *Trace) forgetUntold() {
	left := t.untold[:0]
	for _, d := range t.untold {
		if d == nil {
			continue
		}
		if d.at = 0; d.closed || d.owner.ended {
			continue
		}
		left = append(left, d)
		d.at = len(left)
	}
	clear(t.untold[len(left):])
	if t.untold = left; len(left) > mostUntold/2 {
		t.tellFDs()
	}
}

// mostFDRows of a trace are kept; further ones are left out, and it is said.
const mostFDRows = 25_000

// mostBrief descriptors of a second that are gone at its end are told of.
const mostBrief = 16

// From manyFDs rows on none of those is.
const manyFDs = 2000

// executed closes what execve(2) closes, and gives the process its name.
func (t *Trace) executed(th *thread, args []byte) {
	th.proc.fds.each(func(fd int32, d *descriptor) {
		if d.cloex {
			t.closed(d, th.seen)
			t.forgets(th.proc, fd)
		}
	})
	th.proc.polls = nil
	name := quoted(args)
	if i := bytes.LastIndexByte([]byte(name), '/'); i >= 0 {
		name = name[i+1:]
	}
	th.name = ""
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
func (x *texts) describe(row *recording.FD, b []byte) bool {
	if len(b) < 2 || b[0] != '<' {
		return false
	}
	// -y may show whether a file was deleted behind the bracket; in a name > is \76.
	end := bytes.IndexByte(b, '>')
	if b[1] != '/' {
		if i := bytes.Index(b, []byte("]>")); i >= 0 && bytes.IndexByte(b[:i], '[') >= 0 {
			end = i + 1
		}
	}
	if end < 0 {
		return false
	}
	s := x.text(b[1:end])
	kind, inside := b[1:end], []byte(nil)
	if b[1] != '/' {
		kind, inside, _ = bytes.Cut(kind, []byte(":["))
	}
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
			row.Local, row.Remote = x.text(from), x.text(to)
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

// hasFlag tells whether a flag's name stands among the arguments.
func hasFlag(args []byte, flag string) bool { return bytes.Contains(args, []byte(flag)) }
