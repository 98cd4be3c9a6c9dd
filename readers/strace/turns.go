package strace

import (
	"math"

	"snag/recording"
)

// turn is the request that goes on over one connection, as docs/probes/turns.md
// has it, told from the calls alone: when data came is known where a call waited
// for it, where poll or epoll told of it, or, of a connection that nobody polls and
// whose first read found data at once, that it was there since accept.
type turn struct {
	phase  phase
	begin  int64 // ns: data was there (serve), or the first byte was sent (call)
	read   int64 // the process read it
	first  int64 // byte of the answer (serve), or of the request (call)
	last   int64
	bytes  uint64
	listed bool
}

type phase uint8

const (
	quiet phase = iota
	asked
	answering
	streaming // it sends without being answered
)

// As probes/sockets/turns.h has them.
const (
	answerGap   = int64(200e6)
	streamTime  = int64(1e9)
	streamBytes = 256 << 10
)

// atOnce, ns: a call that took no longer waited for nobody.
const atOnce = int64(1e6)

// side is which end of a connection a descriptor is.
type side uint8

const (
	noSide side = iota
	serves
	asker
)

// moved follows a read or write of n bytes that took from begin to end.
func (t *Trace) moved(th *thread, d *descriptor, read bool, begin, end, took int64, n uint64) {
	switch {
	case n == 0:
	case d.side == serves && read:
		t.requested(th, d, begin, end, took)
	case d.side == serves:
		t.answered(th, d, begin, end, n)
	case d.side == asker && read:
		if d.turn.phase == asked {
			t.countTurn(th, d, d.turn.begin, d.turn.begin, end)
			d.hadAnswer = true
		}
		d.turn.phase = quiet
	case d.side == asker:
		t.asks(d, begin, end, n)
	}
	if read {
		d.ready, d.accepted = 0, 0
	}
}

func (t *Trace) requested(th *thread, d *descriptor, begin, end, took int64) {
	u := &d.turn
	if u.phase == answering {
		t.served(th, d)
	}
	came, read := begin, begin
	switch {
	case took >= atOnce: // it waited for the data
		came, read = end, end
	case d.ready != 0:
		came = d.ready
	case d.accepted != 0 && !d.polled:
		came = d.accepted
	case u.phase == asked && begin-u.read < answerGap:
		return // the rest of what was there
	}
	u.phase, u.begin, u.read = asked, min(came, read), read
	t.list(d)
}

func (t *Trace) answered(th *thread, d *descriptor, begin, end int64, n uint64) {
	u := &d.turn
	switch u.phase {
	case asked:
		u.phase, u.first, u.last, u.bytes = answering, end, end, n
	case answering:
		if begin-u.last > answerGap {
			t.served(th, d)
			return
		}
		u.last = end
		u.bytes += n
	}
}

// served counts a turn whose answer was sent: up to its last byte, or of a stream to
// its first. How long one call took that wrote more than that, the reader decided.
func (t *Trace) served(th *thread, d *descriptor) {
	u := &d.turn
	stream := u.bytes > streamBytes || u.last-u.first > streamTime
	if !stream || u.first != u.last {
		end := u.last
		if stream {
			end = u.first
		}
		t.countTurn(th, d, u.begin, u.read, end)
		d.hadAnswer = true
	}
	u.phase = quiet
}

func (t *Trace) asks(d *descriptor, begin, end int64, n uint64) {
	u := &d.turn
	switch u.phase {
	case quiet:
		*u = turn{phase: asked, begin: begin, first: begin, last: end, bytes: n, listed: u.listed}
		t.list(d)
	case asked:
		u.last = end
		if u.bytes += n; u.bytes > streamBytes || end-u.first > streamTime {
			u.phase = streaming
		}
	}
}

func (t *Trace) list(d *descriptor) {
	if !d.turn.listed {
		d.turn.listed, d.kept = true, true
		t.turning = append(t.turning, d)
	}
}

type turnKey struct {
	pid           int
	side          side
	local, remote string
}

func (t *Trace) turnRow(d *descriptor) *recording.Turns {
	if c := &d.counted; c.row != nil && c.flushed == t.flushed && c.pid == d.owner.pid && c.side == d.side && c.local == d.row.Local && c.remote == d.row.Remote {
		return c.row
	}
	k := turnKey{d.owner.pid, d.side, d.row.Local, d.row.Remote}
	role := "call"
	if d.side == serves {
		k.remote, role = recording.Host(d.row.Remote), "serve"
	} else {
		k.local = recording.Host(d.row.Local)
	}
	row := t.turns[k]
	if row == nil {
		row = &recording.Turns{Role: role, Local: k.local, Remote: k.remote, PID: k.pid}
		t.turns[k] = row
	}
	d.counted = counted{row, t.flushed, d.owner.pid, d.side, d.row.Local, d.row.Remote}
	return row
}

// counted is the row in which a descriptor's last turn was counted, as it was then:
// most follow each other within a second.
type counted struct {
	row           *recording.Turns
	flushed       int
	pid           int
	side          side
	local, remote string
}

func (t *Trace) countTurn(th *thread, d *descriptor, begin, read, end int64) {
	took := float64(max(end-begin, 0)) / 1e9
	row := t.turnRow(d)
	if th != nil {
		row.PID, row.Comm = th.proc.pid, th.proc.comm
	}
	row.N++
	row.Sum += took
	row.Max = max(row.Max, took)
	row.Wait += float64(max(read-begin, 0)) / 1e9
	_, exp := math.Frexp(took / recording.TurnBound(0)) // two bounds to a doubling
	i := min(max(2*(exp-2), 0), 60)
	for i < 60 && took >= recording.TurnBound(i+1) {
		i++
	}
	if n := i + 1 - len(row.Hist); n > 0 {
		row.Hist = append(row.Hist, make([]uint64, n)...)
	}
	row.Hist[i]++
}

// flushTurns ends answers that a silence ended, and writes the second's turns with
// those that have no answer yet. One of a connection that was never answered may be
// no question: it is not told.
func (t *Trace) flushTurns(end int64) {
	still := t.turning[:0]
	for _, d := range t.turning {
		u := &d.turn
		if u.phase == answering && end-u.last > answerGap || d.closed && u.phase == answering {
			t.served(nil, d)
		}
		if u.phase == asked && d.hadAnswer && !d.closed && end > u.begin {
			row := t.turnRow(d)
			row.Open++
			row.Oldest = max(row.Oldest, float64(end-u.begin)/1e9)
		}
		if u.phase == quiet || d.closed {
			u.listed = false
			continue
		}
		still = append(still, d)
	}
	clear(t.turning[len(still):])
	t.turning = still
	t.flushed++
	for k, row := range t.turns {
		row.T = recording.Time(t.second)
		if t.turnRows++; t.turnRows <= mostTurnRows {
			t.out.Append(*row)
		}
		delete(t.turns, k)
	}
}

// mostTurnRows of a trace are kept; further ones are counted.
const mostTurnRows = 300_000
