package pcap

// maybe is what is not always known.
type maybe uint8

const (
	unsure maybe = iota
	no
	yes
)

// sending tells by what order a host sent its packets, whatever order they came in: by
// IPv4's identification where its host counts it, else by the timestamp. What was sent
// again is the newest packet; what was overtaken is not.
type sending struct {
	id           uint16 // the newest
	any, stamped bool
	late         maybe  // the last packet was sent before one that came earlier
	stamp        uint32 // the newest
	steps, leaps uint32 // of the identification from packet to packet
}

// fewIDs lie between two packets of a connection on a host that counts them for each
// connection (Linux), or for all together and is not very busy; a large one that is cut
// up by the interface takes 45.
const fewIDs = 512

func (o *sending) packet(s *segment) {
	o.late = unsure
	switch d := int16(s.id - o.id); {
	case !o.any:
		o.id, o.any = s.id, true
	case s.id == 0: // not counted: a SYN-ACK's, or every packet's
	case o.id == 0 || d >= fewIDs || d <= -fewIDs:
		o.leaps++
		o.id = s.id
	case d > 0:
		o.steps++
		o.id, o.late = s.id, no
	case d < 0:
		o.late = yes
	}
	if o.steps <= 3*o.leaps {
		o.late = unsure
	}
	if !s.opt.Stamped {
		return
	}
	d := int32(s.opt.TSVal - o.stamp)
	if o.late == unsure && o.stamped && d != 0 {
		o.late = no
		if d < 0 {
			o.late = yes
		}
	}
	if !o.stamped || d > 0 {
		o.stamp, o.stamped = s.opt.TSVal, true
	}
}

// elsewhere reports whether a packet of another interface is one that was captured
// before, as it came in or left again: nothing of it is newer.
func (h *half) elsewhere(s *segment) bool {
	o := &h.sending
	if !h.begun || int32(s.seq+uint32(s.len)-h.next) > 0 {
		return false
	}
	if s.id != 0 && o.id != 0 && o.steps > 3*o.leaps {
		d := int16(s.id - o.id)
		return d <= 0 && d > -fewIDs*8
	}
	return s.opt.Stamped && o.stamped && int32(s.opt.TSVal-o.stamp) <= 0
}
