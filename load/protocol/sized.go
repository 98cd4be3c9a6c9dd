package protocol

import "encoding/binary"

// Sized is a protocol in which each answer has the same number of bytes: an echo, or what sockperf and
// iperf call a message.
type Sized struct {
	Writes   [][]byte
	Answer   int  // bytes; 0: there is none
	Datagram bool // each request and each answer is one datagram
	OneWay   bool // answers are counted and none is awaited
	// AsIs: a datagram is sent as it is. Else its first bytes are overwritten with a number.
	AsIs bool
}

// Bytes is the size of a message.
func (p Sized) Bytes() int { return sizeOf(p.Writes) }

// New implements Protocol.
func (p Sized) New() Conversation {
	if p.Datagram {
		own := append([]byte(nil), p.Writes[0]...)
		return &datagrams{writes: [][]byte{own}, answer: p.Answer, silent: p.Answer == 0 || p.OneWay, asIs: p.AsIs}
	}
	return &sized{fixed: p.Writes, size: p.Answer, oneWay: p.OneWay}
}

// Server implements Protocol.
func (p Sized) Server() Server {
	if p.Datagram {
		return echo(p.Answer)
	}
	return &counted{asks: sizeOf(p.Writes), answer: make([]byte, p.Answer)}
}

type sized struct {
	fixed
	size, have int
	oneWay     bool
}

// Silent implements Silent.
func (r *sized) Silent() bool { return r.size == 0 || r.oneWay }

func (r *sized) Read(b []byte) (Got, error) {
	if r.size == 0 {
		return Got{}, nil
	}
	r.have += len(b)
	done := r.have / r.size
	r.have %= r.size
	return Got{Done: done}, nil
}

// datagrams begin with the number of their request. An echo brings it back, which shows whether it
// answers the last request or one that was given up.
type datagrams struct {
	writes       [][]byte
	answer       int // bytes
	silent, asIs bool
	number       int64
}

// stamped is how many bytes of a datagram hold its number.
const stamped = 8

// Silent implements Silent.
func (d *datagrams) Silent() bool { return d.silent }

func (d *datagrams) Ask(number int64) [][]byte {
	d.number = number
	if b := d.writes[0]; len(b) >= stamped && !d.asIs {
		binary.BigEndian.PutUint64(b, uint64(number)|1<<63)
	}
	return d.writes
}

func (d *datagrams) Read(b []byte) (Got, error) {
	if len(b) >= stamped && !d.asIs {
		if n := binary.BigEndian.Uint64(b); n>>63 == 1 && int64(n&^(1<<63)) < d.number {
			return Got{Stale: 1}, nil
		}
	}
	got := Got{Done: 1}
	if len(b) != d.answer {
		got.Odd = 1
	}
	return got, nil
}

// echo answers with so many bytes, the first of which are the request's.
type echo int

func (n echo) Serve(b []byte) []byte {
	if n == 0 {
		return nil
	}
	answer := make([]byte, n)
	copy(answer, b[:min(len(b), stamped)])
	return answer
}
