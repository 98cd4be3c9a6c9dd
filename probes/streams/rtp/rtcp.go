package rtp

import (
	"time"

	"github.com/pion/rtcp"
)

// reports is what one track knows for, and from, RTCP.
type reports struct {
	ssrc     uint32 // the sender's
	sender   bool   // a sender report came
	ntp      int64  // ns since 1900 of the last one
	rtp      uint32 // its timestamp
	lastSR   uint32 // middle 32 bits of its NTP time
	cameAt   int64
	expected uint64 // at the last report sent
	lost     uint64
}

func (r *reports) packet(ssrc uint32) { r.ssrc = ssrc }

// ntpNS is a 64-bit NTP time in ns since 1900.
func ntpNS(ntp uint64) int64 {
	seconds, fraction := ntp>>32, ntp&0xffffffff
	return int64(seconds)*int64(time.Second) + int64(fraction*uint64(time.Second)>>32)
}

// rtcp takes a compound packet.
func (t *track) rtcp(at int64, b []byte) {
	packets, err := rtcp.Unmarshal(b)
	if err != nil {
		return // a part that can't be read: the others are not worth a guess
	}
	for _, p := range packets {
		switch p := p.(type) {
		case *rtcp.SenderReport:
			if t.window.started && p.SSRC != t.window.ssrc {
				continue
			}
			t.report.sender, t.report.ntp, t.report.rtp = true, ntpNS(p.NTPTime), p.RTPTime
			t.report.lastSR, t.report.cameAt = uint32(p.NTPTime>>16), at
		case *rtcp.Goodbye:
			for _, s := range p.Sources {
				t.gone = t.gone || s == t.window.ssrc
			}
		}
	}
}

// receiverReport is what the sender is told (RFC 3550 6.4.2), so that a server
// that counts on reports goes on sending. nil before the first packet.
func (t *track) receiverReport(now int64, own uint32) []byte {
	w := &t.window
	if !w.started {
		return nil
	}
	lost := w.Counts.Lost - min(w.Counts.Lost, w.Counts.Late)
	expected := w.Counts.Received - w.Counts.Duplicate + lost
	r := rtcp.ReceptionReport{
		SSRC:               w.ssrc,
		TotalLost:          uint32(min(lost, 1<<23-1)), // signed 24 bits
		LastSequenceNumber: uint32(w.highest - 1<<32),
		Jitter:             uint32(t.jitter.Seconds() * float64(t.f.Rate)),
		LastSenderReport:   t.report.lastSR,
	}
	if d := expected - t.report.expected; d > 0 && lost > t.report.lost {
		r.FractionLost = uint8(min((lost-t.report.lost)*256/d, 255))
	}
	if t.report.sender {
		r.Delay = uint32(time.Duration(now-t.report.cameAt) * 65536 / time.Second)
	}
	t.report.expected, t.report.lost = expected, lost
	// A compound packet has a description with a name in it (6.1).
	b, err := rtcp.Marshal([]rtcp.Packet{
		&rtcp.ReceiverReport{SSRC: own, Reports: []rtcp.ReceptionReport{r}},
		&rtcp.SourceDescription{Chunks: []rtcp.SourceDescriptionChunk{{
			Source: own, Items: []rtcp.SourceDescriptionItem{{Type: rtcp.SDESCNAME, Text: "snag"}},
		}}},
	})
	if err != nil {
		return nil
	}
	return b
}
