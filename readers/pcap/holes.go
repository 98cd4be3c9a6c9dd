package pcap

// holes are what was passed over: bytes that come late, or are sent again, or that
// the capture never shows.
type holes struct {
	all [8]hole
	n   int
}

type hole struct {
	from, to uint32
	at       int64
}

// open notes a hole in front of a segment.
func (l *holes) open(h *half, s *segment, from, to uint32) {
	if l.n == len(l.all) {
		h.missed += uint64(l.all[0].to - l.all[0].from)
		copy(l.all[:], l.all[1:])
		l.n--
	}
	l.all[l.n] = hole{from, to, s.at}
	l.n++
}

// fill takes a segment that lies before the highest: it gives the hole that it fills.
func (l *holes) fill(h *half, seq, end uint32) (hole, bool) {
	if l == nil {
		return hole{}, false
	}
	for i := range l.n {
		o := l.all[i]
		if int32(seq-o.from) < 0 || int32(end-o.to) > 0 {
			continue
		}
		switch {
		case seq == o.from && end == o.to:
			l.drop(i)
		case seq == o.from:
			l.all[i].from = end
		case end == o.to:
			l.all[i].to = seq
		default: // its middle: what comes before it stays open as well
			l.all[i].from = end
			if l.n < len(l.all) {
				before := o
				before.to = seq
				copy(l.all[i+1:l.n+1], l.all[i:l.n])
				l.all[i] = before
				l.n++
			} else {
				h.missed += uint64(seq - o.from)
			}
		}
		return o, true
	}
	return hole{}, false
}

// passed closes what the other end has: the capture missed it.
func (l *holes) passed(ack uint32) {
	for l != nil && l.n > 0 && int32(ack-l.all[0].to) >= 0 {
		l.drop(0)
	}
}

func (l *holes) drop(i int) {
	copy(l.all[i:l.n-1], l.all[i+1:l.n])
	l.n--
}

// soonReordered is how late an overtaken segment comes where nothing else tells it
// from one that was sent again; Wireshark takes the same.
const soonReordered = int64(3e6)

func (t *trip) soon() int64 {
	if t.least == 0 {
		return soonReordered
	}
	return min(max(soonReordered, t.least/2), t.least)
}
