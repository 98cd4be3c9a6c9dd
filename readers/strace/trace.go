package strace

import (
	"bytes"

	"snag/recording"
	"snag/recording/calltable"
)

// Options of a trace.
type Options struct {
	PID   int    // of lines without a number (-ff: from the file's name); 0: not known
	Begin int64  // Unix ns: where a trace without a wall clock begins; of -t and -tt the midnight of its day
	Find  string // a text to look for in what calls were given
	// Second is the length of what is counted together, ns; 0: one second.
	Second int64
	// Rows of a second are kept at the most, and taken together beyond; 0: fewer the
	// longer the trace is.
	Rows int
	// Moved is told of each call that moved bytes over a socket; nil: nobody.
	Moved func(Moved)
	// Called is called with each call that returned. May be nil.
	Called func(*Called)
}

// Called is one call that came back. Args and Tail lie in the line that was parsed.
type Called struct {
	PID    int
	Name   string
	FD     int32  // that it was given; -1: none
	Life   uint64 // of the descriptor: a number that was used again has another
	Kind   string // what the descriptor is, as recording.FD has it
	Serves bool   // it is a connection that was accepted
	Args   []byte
	Ret    int64
	// Bytes that it moved, and whether it read them.
	Bytes      int64
	Read       bool
	Begin, End int64 // Unix ns
	Line       uint64
}

// Moved is one call that moved bytes over a socket.
type Moved struct {
	PID           int
	Comm          string
	Local, Remote string // address:port; Local of an accepted one may be its listener's
	Read          bool   // else it wrote
	Begin, End    int64  // Unix ns
}

// Trace joins the lines of one trace. Give it lines in their order, then End.
type Trace struct {
	o        Options
	out      recording.Sink
	clock    clock
	calls    *callNames
	errnos   *callNames // the names of errors
	threads  map[int]*thread
	born     map[int]bool   // whom a clone that was seen made
	unborn   map[int]uint64 // whom none did, and in which line they ended
	recent   *thread
	near     [64]*thread // seen lately, by the low bits of their numbers
	first    int         // the thread that was there first
	attached *process    // that -p named
	// fromOutside: the first call is no execve, so that the program was running before.
	fromOutside bool
	left        []*thread         // ended in this second, with cells
	early       calltable.Table   // rows of others that did; nil: there are none
	sums        sums              // of those that have no row
	held        []*recording.Call // of the second before: see takeBack
	second      int64             // the second that is counted now begins here; 0: no line had a time

	locks                    locks
	later                    []span
	rows                     int
	fdRows, lockRows, events int
	folded                   int
	Counts                   Counts

	lostThreads int
	fds         int  // that are known, and some of processes that ended
	unknownFDs  int  // for which there was no room
	ended       bool // a thread did since they were counted

	turns   map[turnKey]*recording.Turns // of this second
	turning []*descriptor                // with a turn under way
	flushed int                          // seconds that were written
	untold  []*descriptor                // whose row is to be written; nil: it needs none
	spareFD *descriptor                  // those that may be used again
	texts   texts

	spareCells []cells // of threads that ended, empty
	errors     map[failureKey]*recording.CallError
	telling    []bool // by errnos: whether it is one of failures
	waits      map[waitKey]*recording.OffCPU
	table      []tableRow
	looks      looks
	found      map[foundKey]*found
	peeked     []byte // room for what is looked into
	saw        class  // of calls
	sockets    bool   // a socket was used

	turnRows, socketRows, resetRows, logRows, waitRows int
	lastID                                             uint64 // of a descriptor's life
}

// Counts says how much of a trace was read.
type Counts struct {
	Lines      uint64
	Calls      uint64 // that ended
	Timed      uint64 // of them, those whose length is known
	Noise      uint64 // lines that are nothing of strace's
	Orphans    uint64 // ends of calls whose beginning is not in the trace
	Unfinished uint64 // calls that no line ends
	First      recording.Time
	Last       recording.Time
	Style      Style
}

// New begins a trace whose rows go to out.
func New(out recording.Sink, o Options) *Trace {
	if o.Second <= 0 {
		o.Second = 1e9
	}
	return &Trace{
		o: o, out: out, clock: clock{midnight: o.Begin, begin: o.Begin}, calls: newCallNames(), errnos: newCallNames(),
		threads: map[int]*thread{}, born: map[int]bool{}, unborn: map[int]uint64{}, locks: locks{},
		turns: map[turnKey]*recording.Turns{}, errors: map[failureKey]*recording.CallError{}, waits: map[waitKey]*recording.OffCPU{}, found: map[foundKey]*found{},
	}
}

// Line takes the next line of a trace in one file.
func (t *Trace) Line(l *Line) {
	if l.untimed() {
		t.LineAt(l, 0)
		return
	}
	if len(t.threads) == 0 && t.Counts.Calls > 0 && l.Kind != Exit {
		t.clock.session(l)
	}
	t.LineAt(l, t.clock.at(l))
}

// LineAt takes the next line, whose time on the wall clock is at, Unix ns.
func (t *Trace) LineAt(l *Line, at int64) {
	t.Counts.Lines++
	switch l.Kind {
	case Noise:
		t.Counts.Noise++
		return
	case Frame, Message:
		return
	case Table:
		t.note(l.Args)
		return
	case Attached:
		t.adopt(l.PID)
		return
	}
	if t.Counts.First == 0 {
		t.Counts.First = recording.Time(at)
	}
	if at >= t.second+t.o.Second {
		t.turn(at)
	}
	if l.Kind == Superseded {
		t.replaced(l.PID, int(l.Ret))
		return
	}
	if t.Counts.Calls == 0 && len(t.threads) == 0 && t.o.PID == 0 {
		t.fromOutside = l.PID != 0 && string(l.Name) != "execve"
	}
	th := t.recent
	if l.Kind != Continued || th == nil {
		th = t.who(l.PID)
	}
	if l.Comm != nil && string(l.Comm) != th.comm() {
		th.called(string(l.Comm))
	}
	switch l.Kind {
	case Call:
		id := t.calls.id(l.Name)
		fd := int32(-1)
		if t.calls.class[id]&hasFD != 0 {
			fd = firstFD(l.Args)
		}
		end := at + max(l.Took, 0)
		inside := end - at
		if end > t.second+t.o.Second {
			t.spread(th, id, fd, at, end, l.Args)
			inside = 0
		}
		t.finish(th, id, fd, at, end, inside, l.Args, l)
	case Unfinished:
		t.begin(th, l, at)
	case Resumed, Continued:
		t.resume(th, l, at)
	case Signal:
		t.signal(th, l, at)
	case Exit:
		t.gone(th, at)
	}
}

// adopt takes a thread that strace says it attached to: before any call is seen,
// all are of the process that -p named.
func (t *Trace) adopt(tid int) {
	if t.second != 0 || t.Counts.Calls > 0 {
		return
	}
	if t.attached == nil {
		t.attached = &process{pid: tid, fds: &fdTable{}}
		t.first = tid
	}
	t.threads[tid] = &thread{tid: tid, proc: t.attached}
}

func (t *Trace) begin(th *thread, l *Line, at int64) {
	id := t.calls.id(l.Name)
	fd := int32(-1)
	switch class := t.calls.class[id]; {
	case class&ends != 0:
		return
	case class&hasFD != 0:
		fd = firstFD(l.Args)
	}
	if th.open != nil {
		t.Counts.Unfinished++
	}
	p := &th.spare
	*p = pending{call: id, fd: fd, begin: at, from: at, hit: l.Hit, args: append(p.args[:0], l.Args...)}
	th.open = p
	t.locks.begin(th, id, t.calls, p.args, at)
}

func (t *Trace) resume(th *thread, l *Line, at int64) {
	p := th.open
	if l.Kind == Continued {
		if p == nil {
			t.Counts.Noise++
			return
		}
		l.Name = []byte(t.calls.names[p.call])
	}
	id := t.calls.id(l.Name)
	if t.calls.class[id]&ends != 0 { // its beginning was passed over too
		return
	}
	if p == nil || p.call != id {
		t.Counts.Orphans++
		begin := at
		if l.Took > 0 {
			begin -= l.Took
		}
		t.finish(th, id, -1, begin, at, 0, l.Args, l)
		return
	}
	th.open = nil
	// The length that strace measured counts; the time of this line is of its printing.
	end := at
	if l.Took >= 0 && p.begin != 0 {
		end = p.begin + l.Took
	}
	inside := max(end-p.from, 0)
	if end < p.from {
		t.takeBack(th, t.calls.names[id], p.fd, p.from-end)
	}
	if end > t.second+t.o.Second {
		t.spread(th, id, p.fd, p.from, end, p.args)
		inside = 0
	}
	p.args = append(p.args, l.Args...)
	l.Hit = l.Hit || p.hit
	if l.Took < 0 && t.clock.style != NoTime {
		l.Took = at - p.begin
	}
	t.finish(th, id, p.fd, p.begin, end, inside, p.args, l)
}

// finish counts a call that ended. Of exit(2) strace shows a line, but nothing
// comes back from it, nor from a call that the end of its thread cuts off ("= ?"): as in
// strace -c, they are no calls that ended. Inside is what of it this second has, where
// all that is left of it is in this second.
func (t *Trace) finish(th *thread, id uint16, fd int32, begin, end, inside int64, args []byte, l *Line) {
	class := t.calls.class[id]
	if class&ends != 0 || !l.Known && l.Errno == nil && string(l.Tail) != unavailable {
		if inside > 0 && class&ends == 0 {
			th.cells.at(keyOf(id, fd)).sum += inside
		}
		return
	}
	t.saw |= class
	t.Counts.Calls++
	if l.Took >= 0 {
		t.Counts.Timed++
	}
	c := th.cells.at(keyOf(id, fd))
	c.sum += inside
	c.took(begin, l.Took)
	var errno uint16
	if l.Errno != nil {
		errno = t.errnos.id(l.Errno)
		c.failed(errno)
	} else if class&(reads|writes) != 0 && l.Known && l.Ret > 0 {
		c.done += uint64(l.Ret)
	}
	if class&asks != 0 {
		if n, ok := lastNumber(args); ok {
			c.asked, c.hasAsked = c.asked+n, true
		}
	}
	var d *descriptor
	if fd >= 0 {
		d = t.use(th, fd, begin, args)
		if class&(reads|writes) != 0 && l.Errno == nil && l.Known && l.Ret > 0 {
			t.transferred(th, d, class, begin, end, args, l)
		}
	}
	if t.o.Called != nil && (l.Errno == nil || string(l.Errno) == "EINPROGRESS") {
		t.called(th, d, id, fd, begin, end, args, l)
	}
	th.seen = end
	if l.Hit {
		t.find(th, id, fd, begin)
	}
	if l.Errno != nil {
		t.failed(th, id, d, end, errno)
	}
	if l.Took >= shortWait {
		t.waited(th, id, fd, begin, l.Took, args)
		th.long.note(id, fd, begin, l.Took)
	}
	if class&^(hasFD|reads|writes|asks|waits|sleeps|children) != 0 {
		t.special(th, class, id, fd, begin, end, args, l)
	}
	if l.Took >= longCall && class&(waits|locking) == 0 {
		t.blocked(th, id, fd, begin, begin+l.Took)
	}
}

// special follows what calls change: descriptors, threads, locks.
func (t *Trace) special(th *thread, class class, id uint16, fd int32, begin, end int64, args []byte, l *Line) {
	failed := l.Errno != nil || !l.Known
	switch {
	case class&locking != 0:
		t.locks.end(t, th, args, l, begin, end)
	case failed && (class&names == 0 || string(l.Errno) != "EINPROGRESS"):
	case class&opens != 0:
		t.opened(th, t.calls.names[id], end, int32(l.Ret), args, l.Tail)
	case class&closes != 0:
		t.closed(th.proc.fds.get(fd), end)
		t.forgets(th.proc, fd)
	case class&polls != 0:
		t.readable(th, t.calls.names[id], end, args, l)
	case class&arms != 0:
		t.registered(th, args)
	case class&listens != 0:
		t.listening(th, fd)
	case class&shuts != 0:
		if d := th.proc.fds.get(fd); d != nil {
			d.shut = true
		}
	case class&limits != 0:
		th.proc.limited(args)
	case class&renames != 0:
		if bytes.HasPrefix(args, []byte("PR_SET_NAME, \"")) {
			th.called(quoted(args))
		}
	case class&names != 0:
		t.named(th, t.calls.names[id], fd, begin, args)
	case class&pairs != 0:
		t.paired(th, t.calls.names[id], end, args)
	case class&forks != 0:
		t.forked(th, int(l.Ret), args)
	case class&executes != 0:
		t.executed(th, args)
	}
}

// spread adds the time from begin to end that lies in the present second, and the
// part after it to the seconds it falls into, as they come.
func (t *Trace) spread(th *thread, id uint16, fd int32, begin, end int64, args []byte) {
	here := min(end, t.second+t.o.Second)
	if here > begin {
		th.cells.at(keyOf(id, fd)).sum += here - begin
	}
	if end > here { // it reaches into a later second: one thread's line, nobody's after it
		var word []byte
		if t.calls.class[id]&locking != 0 {
			word = bytes.Clone(args)
		}
		t.later = append(t.later, span{th, id, fd, max(begin, here), end, word})
	}
}

// addOpen adds what of a call that goes on lies before at.
func (t *Trace) addOpen(th *thread, at int64) {
	if p := th.open; at > p.from {
		th.cells.at(keyOf(p.call, p.fd)).sum += at - p.from
		p.from = at
	}
}

// span is a part of a call that lies in seconds to come.
type span struct {
	th         *thread
	call       uint16
	fd         int32
	begin, end int64
	args       []byte // of futex
}

// shortWait, ns: a call that took longer slept in it, or nearly.
const shortWait = int64(100e3)

// lastNumber is the number that a call's arguments end in.
func lastNumber(args []byte) (n uint64, ok bool) {
	i := len(args)
	for i > 0 && args[i-1] >= '0' && args[i-1] <= '9' && len(args)-i < 18 {
		i--
	}
	if i == len(args) || i == 0 || args[i-1] != ' ' {
		return 0, false
	}
	for _, c := range args[i:] {
		n = n*10 + uint64(c-'0')
	}
	return n, true
}
