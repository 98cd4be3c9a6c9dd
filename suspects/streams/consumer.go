package streams

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// consumer is a socket that a process writes and whose peer does not read, with
// how the process' other sockets fared in that time.
type consumer struct {
	relay   *scene.Process
	socket  *scene.Socket
	active  []recording.Interval // when it was stuck
	sendQ   int                  // most that waited
	persist bool
	limited float64 // share of that time with the peer's window as the limit

	// The thread seen most in a write to it.
	inWrite, samples int // samples in the write; samples of that thread, or of all
	tid, fd          int
	call, wchan      string

	others          []*scene.Socket // consumers beside it
	frozen, flowing int             // of the others
	waiting         bool            // data of a publisher waited to be read most of the time
	ingest          string
	ingestQ         int
}

// writes are the calls that write to the descriptor given first.
var writes = map[string]bool{"write": true, "writev": true, "sendto": true, "sendmsg": true, "sendmmsg": true, "sendfile": true}

// consumerOf finds when a socket was stuck: bytes waited and the peer's window was
// closed or limited the sender. Nil for a socket that never was for long.
func consumerOf(p *scene.Process, k *scene.Socket, window recording.Interval) *consumer {
	if k.First().Proto != "tcp" || k.Listening() || k.Last().TCP == nil {
		return nil
	}
	c := &consumer{relay: p, socket: k}
	var spans []recording.Interval
	for i := 1; i < len(k.Rows); i++ {
		a, b := k.Rows[i-1], k.Rows[i]
		if a.TCP == nil || b.TCP == nil {
			continue
		}
		if a.SendQ == 0 || b.SendQ == 0 {
			spans = append(spans, edgeOf(a, b)...)
			continue
		}
		dt := b.T.Sub(a.T).Seconds()
		share := 0.0
		if dt > 0 {
			share = (b.TCP.RwndLimited - a.TCP.RwndLimited) / dt
		}
		still := a.TCP.BytesAcked == b.TCP.BytesAcked
		// It took all that waited and more: it read between the two samples, however
		// full its queue is again.
		if float64(b.TCP.BytesAcked)-float64(a.TCP.BytesAcked) > float64(a.SendQ) {
			spans = append(spans, edgeOf(a, b)...)
			continue
		}
		if b.Timer == "persist" || share >= 0.5 || still {
			spans = append(spans, recording.Interval{Start: a.T, End: b.T})
			c.sendQ = max(c.sendQ, b.SendQ)
			c.persist = c.persist || b.Timer == "persist"
			c.limited += min(1, max(0, share)) * dt
		}
	}
	spans = intervals.Merge(spans, 0)
	long := func(i recording.Interval) bool { return i.Length(window.End) >= stuckFor }
	if !slices.ContainsFunc(spans, long) {
		return nil
	}
	// One that was stuck for long once: of what the recording's start or end cut, the
	// rest was before or after it.
	first, last := k.First().T, k.Last().T
	for _, i := range spans {
		if long(i) || i.Start == first || i.End == last {
			c.active = append(c.active, i)
		}
	}
	c.limited = min(1, c.limited/intervals.Seconds(c.active, window.End))
	return c
}

// edgeOf is the part of a span at one end of which the peer's window was shut that
// it held the sender back, by the kernel's own clock (tcp_info rwnd_limited): it
// lies at that end. None where it was a moment only.
func edgeOf(a, b recording.Socket) []recording.Interval {
	const moment = 0.1 // s
	limited := time.Duration((b.TCP.RwndLimited - a.TCP.RwndLimited) * float64(time.Second))
	switch {
	case limited.Seconds() < moment || limited > b.T.Sub(a.T):
		return nil
	case b.Timer == "persist":
		return []recording.Interval{{Start: b.T.Add(-limited), End: b.T}}
	case a.Timer == "persist":
		return []recording.Interval{{Start: a.T, End: a.T.Add(limited)}}
	}
	return nil
}

// look fills in how the process and its other sockets fared while it was stuck.
func (c *consumer) look(window recording.Interval) {
	c.lookThreads()
	for _, k := range c.relay.Sockets {
		if k == c.socket || k.Listening() {
			continue
		}
		if isIngest(k) {
			c.lookIngest(k)
			continue
		}
		if k.First().Proto != "tcp" || k.Last().TCP == nil || k.Last().TCP.BytesSent == 0 {
			continue
		}
		c.lookOther(k, window)
	}
}

// isIngest: the process reads it rather than writes it.
func isIngest(k *scene.Socket) bool {
	if k.First().Proto == "udp" {
		return k.First().Remote == ""
	}
	t := k.Last().TCP
	return t != nil && t.BytesReceived > t.BytesSent
}

func (c *consumer) lookIngest(k *scene.Socket) {
	n, rows, most := measure.WaitingIn(k, c.active)
	if rows > 0 && 2*n >= rows {
		c.waiting = true
		if most > c.ingestQ {
			c.ingestQ = most
			c.ingest = "what " + k.First().Remote + " sent"
			if k.First().Remote == "" {
				c.ingest = fmt.Sprintf("the datagrams on %s", k.First().Local)
			}
		}
	}
}

// lookOther reports whether another consumer got nothing while this one was stuck.
// One that gets nothing outside of that time either is idle, and says nothing,
// unless this one was stuck throughout.
func (c *consumer) lookOther(k *scene.Socket, window recording.Interval) {
	got, seconds := measure.MovedIn(k, c.active, window.End, measure.SentBytes)
	if seconds == 0 {
		return
	}
	before, free := measure.MovedIn(k, intervals.Rest(c.active, window), window.End, measure.SentBytes)
	switch {
	case free >= 1 && before == 0 && got == 0:
		return
	case got == 0, free >= 1 && got/seconds < 0.1*before/free, got/seconds < 0.3*overall(k, measure.SentBytes):
		// A queue that is full is stuck itself, for a reason of its own.
		if row := measure.RowAt(k, c.active[0].Start.Add(time.Second)); row != nil && row.Timer == "persist" {
			return
		}
		c.frozen++
	case got > 0:
		c.flowing++
	}
	c.others = append(c.others, k)
}

// overall is a running total's growth per second from a socket's first row to its
// last.
func overall(k *scene.Socket, of func(recording.Socket) float64) float64 {
	a, b := k.First(), k.Last()
	if seconds := b.T.Sub(a.T).Seconds(); seconds > 0 && a.TCP != nil && b.TCP != nil {
		return max(0, of(b)-of(a)) / seconds
	}
	return 0
}

// onlyThread reports whether one thread does it all: it is in the write to this
// socket most of the time while data waits to be read, and it is either the only
// one, or the one that reads that data at other times.
func (c *consumer) onlyThread() bool {
	alone := len(c.relay.Threads) == 1 && c.relay.Last().Threads <= 1
	return c.waiting && (alone || c.readsIngest()) && c.inWrite > 0 && 2*c.inWrite >= c.samples
}

// readsIngest reports whether the thread that was seen in the write is seen in a read
// of what the process relays whenever this socket is not stuck.
func (c *consumer) readsIngest() bool {
	fds := map[int]bool{}
	for _, k := range c.relay.Sockets {
		if !k.Listening() && k != c.socket && isIngest(k) {
			maps.Copy(fds, descriptorsOf(k, c.relay))
		}
	}
	reads, rows := 0, 0
	for _, t := range c.relay.Threads {
		for _, row := range t.Rows {
			if row.TID != c.tid || row.Syscall == "" || intervals.Cover(c.active, row.T) {
				continue
			}
			rows++
			if fds[row.FD] {
				reads++
			}
		}
	}
	return reads >= 2 && 2*reads > rows
}

// descriptorsOf are a process' descriptors of a socket.
func descriptorsOf(k *scene.Socket, p *scene.Process) map[int]bool {
	fds := map[int]bool{}
	for _, row := range k.Rows {
		for _, o := range row.Owners {
			if o.PID == p.Subject.PID {
				fds[o.FD] = true
			}
		}
	}
	return fds
}

// lookThreads finds the thread that was in a write to this socket at most samples
// while it was stuck.
func (c *consumer) lookThreads() {
	fds := descriptorsOf(c.socket, c.relay)
	all := 0
	for _, t := range c.relay.Threads {
		n, rows := 0, 0
		last := recording.Thread{}
		for _, row := range t.Rows {
			if !intervals.Cover(c.active, row.T) || row.Syscall == "" || row.State == "T" || row.State == "t" {
				continue
			}
			rows++
			if writes[row.Syscall] && fds[row.FD] {
				n++
				last = row
			}
		}
		all += rows
		if n > c.inWrite {
			c.inWrite, c.samples = n, rows
			c.tid, c.fd, c.call, c.wchan = last.TID, last.FD, last.Syscall, last.Wchan
		}
	}
	if c.inWrite == 0 {
		c.samples = all
	}
}

// mostOfIt is the share of the time from which one thing is what a thread does.
const mostOfIt = 0.5

// blockedIn is the thread that was blocked in writes to this socket, by the scheduler;
// nil where nobody watched, or none was.
func (c *consumer) blockedIn(r *recording.Recording, window recording.Interval) *blockedIn {
	fds := descriptorsOf(c.socket, c.relay)
	return blockedOf(c.relay, r, c.active, window, func(row recording.OffCPU) bool {
		return writes[row.Call] && row.FD != nil && fds[*row.FD]
	})
}

// writing is what that says. It is the same act that looks at the thread's call see.
func (b *blockedIn) writing(c *consumer) suspect.Evidence {
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: b.share(), Unit: "share", Source: source.OffCPUOf, Origin: "system call",
		Text: b.text("this socket")}
	switch {
	case b.share() >= mostOfIt && b.looked >= stuckFor.Seconds():
		e.Grade = suspect.Decisive
	case b.share() < 0.1:
		e.Grade = suspect.Weak // a write blocks for a moment wherever a reader is slower than the sender
	}
	return e
}
