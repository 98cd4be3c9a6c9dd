package sides

// half is one direction of a connection in one capture.
type half struct {
	base  uint32 // sequence number of byte 0
	based bool
	seen  ranges
	high  int64 // behind the last byte that was sent, as far as it is known
	acked int64 // behind the last byte that the receiver said it has
	fin   bool

	sentAt   int64 // when the last byte so far was sent
	newAt    int64 // when bytes were last seen for the first time
	wholeAt  int64 // when the receiver had all that was sent
	mss      int64 // of the segments that it sends, as its peer announced
	scale    int8  // of the windows that it announces; -1: not known
	mostRoom int64 // the largest window that its peer announced
	shutAt   int64 // since when its peer's window has no room; 0: it has
	shut     int64 // time without room since the last byte was sent
}

// offset is where a sequence number stands in the direction's bytes.
func (h *half) offset(seq uint32) int64 {
	if !h.based {
		h.base, h.based = seq, true
	}
	return h.high + int64(int32(seq-(h.base+uint32(h.high))))
}

// acknowledged takes an ACK and the window that came with it; wide is the window in
// bytes, or -1 where its scale is not known and it is not 0.
func (h *half) acknowledged(off, at, wide int64) {
	if h.fin && off == h.high+1 {
		off = h.high
	}
	if off > h.acked {
		h.acked = off
		if off > h.high { // sent, and not in this capture
			h.high = off
		}
		if off >= h.high {
			h.wholeAt = at
		}
	} else if off < h.acked {
		return // an old one, overtaken
	}
	if wide > h.mostRoom {
		h.mostRoom = wide
	}
	// What a sender with more to send waits for (RFC 9293, 3.8.6.2.1).
	least := min(max(h.mss, 536), max(h.mostRoom/2, 1))
	noRoom := wide == 0 || wide > 0 && off+wide-h.high < least
	switch {
	case noRoom && h.shutAt == 0 && h.acked >= h.high:
		h.shutAt = at
	case !noRoom && h.shutAt != 0:
		h.shut += at - h.shutAt
		h.shutAt = 0
	}
}

// pause parts the time since the last bytes were sent: what the receiver's window
// forbade, and what the sender held back though all was received.
func (h *half) pause(at int64) (held, shut int64) {
	if h.shutAt != 0 { // a probe, or what fits in the little room
		h.shut += at - h.shutAt
		h.shutAt = at
	}
	shut, h.shut = h.shut, 0
	if h.sentAt == 0 || h.acked < h.high || at <= max(h.sentAt, h.wholeAt) {
		return 0, 0
	}
	idle := at - max(h.sentAt, h.wholeAt)
	shut = min(shut, idle)
	return idle - shut, shut
}
