package strace

import (
	"bytes"

	"snag/internal/peek"
)

// As snag syscalls --peek: no more of a connection is looked into, and no more of a
// buffer.
const (
	mostPeeked  = 16
	peekedBytes = 256
)

// content is what a connection carries, as far as strace -s shows it.
type content struct {
	conn   peek.Conn
	looks  int
	before uint64 // bytes that the client sent before
}

// learn looks into what the client sent for the name of what the connection carries.
// Nothing else of it is kept.
func (t *Trace) learn(d *descriptor, read bool, args []byte, n uint64) {
	if read != (d.side == serves) {
		return
	}
	if d.content == nil {
		d.content = &content{}
		if !d.seenOpened {
			d.content.before = 1 // how much went before is not known: not the first bytes
		}
	}
	c := d.content
	offset := c.before
	if d.turn.phase == asked && d.hadAnswer {
		offset = 0 // a request on a connection that was used before begins as the first does
	}
	c.before += n
	if c.looks++; c.looks > mostPeeked {
		return
	}
	i := bytes.IndexByte(args, '"')
	if i < 0 {
		return
	}
	if cap(t.peeked) == 0 {
		t.peeked = make([]byte, 0, peekedBytes)
	}
	if c.conn.Learn(offset, unescape(t.peeked[:0], args[i+1:])) {
		d.row.Carries = c.conn.Name()
		d.told = false // it is told anew with the next call
	}
}

// text says what a descriptor is, with what it carries.
func (d *descriptor) text() string {
	s := d.row.Text()
	if d.row.Carries != "" {
		s += " (" + d.row.Carries + ")"
	}
	return s
}
