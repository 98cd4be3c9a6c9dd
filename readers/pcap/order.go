package pcap

import (
	"net/netip"

	"snag/internal/packet"
)

// segment is what is kept of a packet until its turn: no bytes of the capture's.
type segment struct {
	at       int64 // ns since 1970
	src, dst netip.AddrPort
	seq, ack uint32
	len      int // payload on the wire
	size     int // of the IP packet
	window   uint16
	id       uint16
	flags    uint8
	ttl      uint8
	proto    uint8
	df       bool
	iface    uint32 // and the way that it went on it; 0: not known
	opens    opener
	opt      packet.Options
}

func (s *segment) has(flag uint8) bool { return s.flags&flag != 0 }

// frames of several queues or interfaces lie in a file a little out of order: no more
// than so many packets, and in no file that a test could find by more than 100 ms.
const orderWindow = 256

// order gives packets by their time, as far as they lie within its window.
type order struct {
	ring  [orderWindow]segment
	begin int
	n     int
	last  int64 // time of the last that was given
	// Late lie further behind than the window goes; Back behind their predecessor.
	late, back uint64
}

// put takes a packet and gives room for it: fill it, then call settle.
func (o *order) put() *segment { return &o.ring[(o.begin+o.n)%orderWindow] }

// settle moves the packet that was put to its place.
func (o *order) settle() {
	i := o.n
	o.n++
	at := func(i int) *segment { return &o.ring[(o.begin+i)%orderWindow] }
	if i == 0 || at(i).at >= at(i-1).at {
		return
	}
	o.back++
	s := *at(i)
	for ; i > 0 && at(i-1).at > s.at; i-- {
		*at(i) = *at(i - 1)
	}
	*at(i) = s
}

// full reports that the first must be taken before another is put.
func (o *order) full() bool { return o.n == orderWindow }

// take gives the first packet, valid until the next is put; nil: there is none.
func (o *order) take() *segment {
	if o.n == 0 {
		return nil
	}
	s := &o.ring[o.begin]
	o.begin = (o.begin + 1) % orderWindow
	o.n--
	if s.at < o.last {
		o.late++
		s.at = o.last // time does not go back for what comes after
	}
	o.last = s.at
	return s
}
