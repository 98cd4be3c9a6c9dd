package pcap

import (
	"encoding/binary"
	"math"

	"snag/recording"
)

// rtp follows the RTP stream of one direction of a UDP flow, where it carries one:
// datagrams of version 2 whose sequence numbers follow each other for one source.
type rtp struct {
	ssrc          uint32
	kind          uint8
	run           uint8 // packets in a row that follow each other, until it is believed
	sure          bool
	next          uint16 // after the highest sequence number
	base          uint32 // the first, extended
	highest       uint32 // extended: cycles above
	received      uint64
	late, twice   uint64
	seen          uint64 // the 64 numbers before the highest, a bit each
	lastAt, gap   int64
	firstAt       int64
	firstStamp    uint32
	lastStamp     uint32
	jitter        float64 // in units of the clock
	transit       float64
	clock         float64
	streams       int
	lost, ofThose uint64 // of streams before this one
}

// sure is after so many packets in a row (RFC 3550, A.1 takes 2; a datagram of another
// protocol begins with these bits one time in four).
const sureAfter = 4

// is reports whether the direction carries RTP.
func (r *rtp) is() bool { return r.sure }

func (r *rtp) take(at int64, b []byte) {
	if len(b) < 12 || b[0]>>6 != 2 || b[1]&0x7f >= 72 && b[1]&0x7f <= 76 { // RTCP's types (RFC 5761, section 4)
		return
	}
	seq, stamp, ssrc := binary.BigEndian.Uint16(b[2:]), binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if r.run == 0 || ssrc != r.ssrc || !r.sure && seq != r.next {
		if r.sure && ssrc != r.ssrc {
			r.over()
		}
		r.restart(at, ssrc, seq, stamp, b[1]&0x7f)
		return
	}
	if !r.sure {
		if r.run++; r.run >= sureAfter {
			r.sure = true
		}
	}
	d := int16(seq - r.next)
	switch {
	case d >= 0:
		n := uint32(d) + 1
		r.highest += n
		if n >= 64 {
			r.seen = 0
		} else {
			r.seen <<= n
		}
		r.seen |= 1
		r.next = seq + 1
	case d > -64 && r.seen&(1<<uint(-d-1)) != 0:
		r.twice++
		return
	case d > -64:
		r.seen |= 1 << uint(-d-1)
		r.late++
	default: // far behind: it began anew
		r.over()
		r.restart(at, ssrc, seq, stamp, b[1]&0x7f)
		return
	}
	r.received++
	r.gap = max(r.gap, at-r.lastAt)
	r.timed(at, stamp)
	r.lastAt, r.kind = at, b[1]&0x7f
}

// told takes the clock that a session description gives its payload type.
func (r *rtp) told(clocks map[uint8]float64) {
	if c := clocks[r.kind]; c != 0 && c != r.clock {
		r.clock, r.jitter, r.transit = c, 0, 0
	}
}

// over adds a stream that gave way to another to what was lost before.
func (r *rtp) over() {
	r.lost += r.missing()
	r.ofThose += r.received
	r.streams++
}

func (r *rtp) restart(at int64, ssrc uint32, seq uint16, stamp uint32, kind uint8) {
	*r = rtp{
		ssrc: ssrc, kind: kind, run: 1, sure: r.sure, next: seq + 1, base: uint32(seq), highest: uint32(seq), received: 1, seen: 1,
		lastAt: at, firstAt: at, firstStamp: stamp, lastStamp: stamp, lost: r.lost, ofThose: r.ofThose, streams: r.streams,
		late: r.late, twice: r.twice, gap: r.gap, clock: clockOf(kind),
	}
}

// missing is RFC 3550's cumulative number of packets lost (A.3).
func (r *rtp) missing() uint64 {
	expected := uint64(r.highest-r.base) + 1
	if expected < r.received {
		return 0
	}
	return expected - r.received
}

// timed takes a packet's part of the jitter (RFC 3550, A.8).
func (r *rtp) timed(at int64, stamp uint32) {
	if r.clock == 0 && r.received >= 50 {
		r.clock = guessClock(at-r.firstAt, stamp-r.firstStamp)
	}
	if r.clock == 0 {
		return
	}
	transit := float64(at-r.firstAt)/1e9*r.clock - float64(stamp-r.firstStamp)
	if r.lastStamp != stamp || r.transit != 0 {
		d := math.Abs(transit - r.transit)
		if d < 10*r.clock { // else the source's clock jumped
			r.jitter += (d - r.jitter) / 16
		}
	}
	r.transit, r.lastStamp = transit, stamp
}

// clockOf is the clock of a static payload type (RFC 3551, tables 4 and 5); 0: it is
// told elsewhere.
func clockOf(kind uint8) float64 {
	switch {
	case kind == 6:
		return 16000
	case kind == 10 || kind == 11:
		return 44100
	case kind == 16:
		return 11025
	case kind == 17:
		return 22050
	case kind == 14 || kind >= 25 && kind <= 34:
		return 90000
	case kind <= 18:
		return 8000
	}
	return 0
}

// guessClock finds the usual clock that ran as many units in that time.
func guessClock(ns int64, units uint32) float64 {
	if ns <= 0 || units == 0 || units > 1<<31 {
		return 0
	}
	rate := float64(units) / seconds(ns)
	for _, c := range []float64{8000, 16000, 24000, 44100, 48000, 90000} {
		if math.Abs(rate-c) < 0.05*c {
			return c
		}
	}
	return 0
}

func (r *rtp) row() *recording.RTPWay {
	if !r.sure {
		return nil
	}
	row := &recording.RTPWay{
		SSRC: r.ssrc, Type: r.kind, Packets: r.received + r.ofThose, Lost: r.missing() + r.lost, Late: r.late, Twice: r.twice,
		MaxGap: seconds(r.gap), Clock: int(r.clock),
	}
	if r.clock > 0 {
		row.Jitter = r.jitter / r.clock
	}
	return row
}
