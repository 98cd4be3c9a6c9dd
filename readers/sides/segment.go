package sides

import (
	"net/netip"

	"snag/internal/packet"
)

// Segment is one captured TCP segment.
type Segment struct {
	T        int64 // ns since the Unix epoch, by the capture's clock
	Src, Dst netip.AddrPort
	Seq, Ack uint32
	Len      int // payload bytes on the wire
	Flags    uint8
	Window   uint16 // not scaled
	// Of the options: TSVal and TSEcr where Stamped; MSS and Scale of a SYN.
	TSVal, TSEcr uint32
	Stamped      bool
	MSS          uint16
	Scale        int8   // -1: no window scale was said
	Payload      []byte // what of it was captured; good until the next segment
}

func (s *Segment) has(flag uint8) bool { return s.Flags&flag != 0 }

// segmentOf takes a decoded packet over; false: it is no TCP.
func segmentOf(at int64, p *packet.Packet, s *Segment) bool {
	if p.Proto != packet.TCP {
		return false
	}
	var o packet.Options
	packet.ReadOptions(p.Options, &o)
	*s = Segment{
		T: at, Src: p.Src, Dst: p.Dst, Seq: p.Seq, Ack: p.Ack, Len: p.Len, Flags: p.Flags, Window: p.Window,
		TSVal: o.TSVal, TSEcr: o.TSEcr, Stamped: o.Stamped, MSS: o.MSS, Scale: -1, Payload: p.Payload,
	}
	if o.Scaled {
		s.Scale = int8(o.Scale)
	}
	return true
}
