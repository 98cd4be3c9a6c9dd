package strace

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"snag/internal/conversation"
	"snag/readers/reader"
)

// Conversation reads a trace for what went over one descriptor of a process; pid 0: of the one that has it.
// Where the number was used for several connections, it is the one that moved most bytes.
func Conversation(ctx context.Context, path string, pid, fd int) (c conversation.Conversation, err error) {
	in, err := reader.Open(path)
	if err != nil {
		return c, err
	}
	defer in.Close()
	style := styleOf(in.Head())
	k := newKeeper(pid, fd, filepath.Base(path))
	t := New(nowhere{}, Options{Begin: beginOf(style, reader.Options{Zone: time.Local, Modified: in.Modified}), Called: k.called})
	if err := Read(ctx, in, t); err != nil {
		return c, err
	}
	t.End()
	return k.best(style != NoTime)
}

// keeper keeps what went over the lives of a descriptor.
type keeper struct {
	pid   int
	fd    int32
	file  string
	lives map[uint64]*life
	now   map[int]uint64 // by process: which of the lives the number stands for
	pids  map[int]bool   // whose descriptor of that number moved bytes
	full  bool
}

func newKeeper(pid, fd int, file string) *keeper {
	return &keeper{pid: pid, fd: int32(fd), file: file, lives: map[uint64]*life{}, now: map[int]uint64{}, pids: map[int]bool{}}
}

// life is one connection that the number stood for.
type life struct {
	c           conversation.Conversation
	pid         int
	serves      bool // it was accepted
	connects    bool
	begun       int64 // Unix ns
	first, last uint64
	bytes       int64
	corked      bool // TCP_CORK: the kernel joins what is written until it is taken back
}

// mostKept of a conversation are kept: some 20 MB.
const mostKept = 400_000

// mostMoved is what one call moves at the most, bytes.
const mostMoved = 1 << 31

func (k *keeper) called(c *Called) {
	if k.pid != 0 && c.PID != k.pid && c.PID != 0 { // 0: the trace does not number its lines
		return
	}
	if c.Name == "poll" || c.Name == "ppoll" {
		k.polled(c)
		return
	}
	if c.FD != k.fd || c.Kind != "socket" && c.Kind != "other" { // other: it was there before the trace
		return
	}
	l := k.lives[c.Life]
	if l == nil {
		l = &life{pid: c.PID, begun: c.Begin, first: c.Line}
		k.lives[c.Life] = l
	}
	k.now[c.PID] = c.Life
	l.last = c.Line
	switch {
	case c.Name == "setsockopt":
		l.option(c)
	case c.Name == "connect":
		l.connects = true
	case c.Bytes > mostMoved: // no call moves so many (MAX_RW_COUNT)
	case c.Bytes > 0 && len(l.c.Events) < mostKept:
		k.pids[c.PID] = true
		l.serves = l.serves || c.Serves
		l.bytes += c.Bytes
		l.c.Events = append(l.c.Events, conversation.Event{Begin: time.Duration(c.Begin - l.begun), End: time.Duration(c.End - l.begun), Out: !c.Read, Bytes: int(c.Bytes), Joins: !c.Read && (l.corked || moreFollows(c.Args))})
	case c.Bytes > 0:
		k.full = true
	}
}

// best is the connection that moved most bytes.
func (k *keeper) best(timed bool) (c conversation.Conversation, err error) {
	if len(k.pids) > 1 {
		return c, fmt.Errorf("read %s: descriptor %d is of processes %v: choose one with --pid", k.file, k.fd, slices.Sorted(maps.Keys(k.pids)))
	}
	var best *life
	used := 0
	for _, id := range slices.Sorted(maps.Keys(k.lives)) {
		l := k.lives[id]
		if l.bytes == 0 {
			continue
		}
		if used++; best == nil || l.bytes > best.bytes {
			best = l
		}
	}
	if best == nil {
		of := ""
		if k.pid != 0 {
			of = fmt.Sprintf(" of process %d", k.pid)
		}
		return c, fmt.Errorf("read %s: no call moved bytes over a connection that was descriptor %d%s", k.file, k.fd, of)
	}
	c = best.c
	c.Timed = timed
	of := ""
	if best.pid != 0 {
		of = fmt.Sprintf(" of process %d", best.pid)
	}
	c.From = fmt.Sprintf("%s, descriptor %d%s, lines %d to %d", k.file, k.fd, of, best.first, best.last)
	if used > 1 {
		c.From += fmt.Sprintf(" (the one with most bytes of %d connections of that number)", used)
	}
	best.finish(&c)
	if k.full {
		c.Lacks = append(c.Lacks, fmt.Sprintf("what follows the first %d calls on it", mostKept))
	}
	return c, nil
}

// finish turns the events of a server's end around, and says what is not in the trace.
func (l *life) finish(c *conversation.Conversation) {
	if l.serves || !l.connects && !c.Events[0].Out {
		for i := range c.Events {
			c.Events[i].Out = !c.Events[i].Out
		}
		c.Lacks = append(c.Lacks, "the client's writes: this is the server's end, and its reads are used instead")
	}
	if !c.Timed {
		c.Lacks = append(c.Lacks, "times (strace -tt or -r)")
	}
	if c.NoDelay == nil && l.connects { // the trace has its calls from the beginning
		off := false
		c.NoDelay = &off
		c.Set = append(c.Set, "TCP_NODELAY off: no call sets it")
	}
	if c.NoDelay == nil {
		c.Lacks = append(c.Lacks, "a call that sets TCP_NODELAY")
	}
	if c.SendBuffer == 0 && c.ReceiveBuffer == 0 {
		c.Lacks = append(c.Lacks, "calls that set buffers")
	}
	if c.Timeout == 0 {
		c.Lacks = append(c.Lacks, "a timeout of the reads (SO_RCVTIMEO, poll)")
	}
}
