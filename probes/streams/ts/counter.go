package ts

import "encoding/binary"

// pids bounds how many streams' counters are kept; those above are not checked.
const pids = 250

// counter is one PID's continuity_counter.
type counter struct {
	last uint8
	seen bool
	dup  bool // the last packet came twice already
	// The next step is not the stream's fault.
	excused bool
	tail    uint64 // of the last payload: a packet with the counter of the one before
	size    uint8  // is its duplicate only when it has the same payload
}

// verdict is what a packet's counter says.
type verdict uint8

const (
	continuous verdict = iota
	duplicate          // to be ignored
	gap                // packets are missing
	announced          // a gap that discontinuity_indicator told of
)

// check is 2.4.3.3: the counter goes up by one with each packet that has a
// payload; a packet may come twice, and not thrice; discontinuity_indicator
// allows any step. A step is one gap, however many packets are missing.
func (c *counter) check(p *packet) verdict {
	if p.payload == nil {
		if p.discontinuity {
			c.seen = false // the step may come with the next payload
		}
		return continuous
	}
	tail, size := fingerprint(p.payload)
	was := *c
	*c = counter{last: p.counter, seen: true, tail: tail, size: size}
	switch {
	case !was.seen:
		return continuous
	case p.counter == (was.last+1)&15:
		return continuous
	case p.discontinuity:
		return announced
	case p.counter == was.last && !was.dup && tail == was.tail && size == was.size:
		c.dup = true
		return duplicate
	}
	return gap
}

func fingerprint(b []byte) (tail uint64, size uint8) {
	if n := len(b); n >= 16 {
		// The start as well: payloads of one stuffing byte have alike ends.
		return binary.LittleEndian.Uint64(b[n-8:]) ^ binary.LittleEndian.Uint64(b)*31, uint8(n)
	}
	for _, c := range b {
		tail = tail*31 + uint64(c)
	}
	return tail, uint8(len(b))
}
