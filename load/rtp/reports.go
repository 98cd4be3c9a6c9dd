package rtp

import (
	"errors"
	"net"
	"time"

	"github.com/pion/rtcp"
)

// reports are what a receiver said of one sender.
type reports struct {
	n       int64
	lost    int64  // since the beginning
	highest uint32 // extended sequence number
	jitter  []time.Duration
	trips   []time.Duration
}

// mostReports of a sender are kept: an hour of one per second.
const mostReports = 3600

// take takes a compound packet that came at now. Of a report on an earlier report the way there and back follows.
func (r *reports) take(b []byte, ssrc uint32, now time.Time) {
	packets, err := rtcp.Unmarshal(b)
	if err != nil {
		return // not RTCP, or torn: nothing of it is a report
	}
	for _, p := range packets {
		var all []rtcp.ReceptionReport
		switch p := p.(type) {
		case *rtcp.ReceiverReport:
			all = p.Reports
		case *rtcp.SenderReport:
			all = p.Reports
		}
		for _, one := range all {
			if one.SSRC == ssrc {
				r.one(one, now)
			}
		}
	}
}

func (r *reports) one(a rtcp.ReceptionReport, now time.Time) {
	r.n++
	r.highest = a.LastSequenceNumber
	r.lost = int64(a.TotalLost)
	if a.TotalLost >= 1<<23 { // of signed 24 bits: more came than were sent
		r.lost -= 1 << 24
	}
	if len(r.jitter) < mostReports {
		r.jitter = append(r.jitter, time.Duration(float64(a.Jitter)/clock*float64(time.Second)))
	}
	if a.LastSenderReport == 0 || len(r.trips) >= mostReports {
		return
	}
	// In units of 1/65536 s, which wrap (RFC 3550, section 6.4.1).
	trip := int32(uint32(ntp(now)>>16) - a.LastSenderReport - a.Delay)
	if d := time.Duration(trip) * time.Second / 65536; d >= 0 && d < time.Minute {
		r.trips = append(r.trips, d)
	}
}

// expected is how many packets the receiver knows to have been sent.
func (r *reports) expected() int64 { return int64(r.highest) - firstSequence + 1 }

// ntp is a time in 1/2^32 s since 1900.
func ntp(t time.Time) uint64 {
	const since1900 = 2_208_988_800
	return uint64(t.Unix()+since1900)<<32 | uint64(t.Nanosecond())<<32/1e9
}

// listen reads what comes back, reports and ICMP errors, until the socket is closed.
func (s *sender) listen(c *net.UDPConn) {
	b := make([]byte, 2048)
	for {
		n, err := c.Read(b)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil && c == s.media:
			s.refuse(err)
		case err == nil:
			s.mu.Lock()
			s.heard.take(b[:n], s.ssrc, time.Now())
			s.mu.Unlock()
		}
	}
}

// reportEvery is how often a sender reports: as often as 5 % of its bit rate allow, at least each 5 s
// (RFC 3550, section 6.2).
func (s Shape) reportEvery() time.Duration {
	least := time.Duration(360 / (s.Bitrate / 1000) * float64(time.Second))
	return min(max(least, time.Second), 5*time.Second)
}

// report sends a sender report, and at the end a goodbye. Losses of it are ordinary.
func (s *sender) report(now time.Duration, at time.Time, bye bool) {
	packets := []rtcp.Packet{
		&rtcp.SenderReport{SSRC: s.ssrc, NTPTime: ntp(at), RTPTime: uint32(max(now-s.begins, 0).Seconds() * clock), PacketCount: s.packets, OctetCount: s.bytes},
		&rtcp.SourceDescription{Chunks: []rtcp.SourceDescriptionChunk{{Source: s.ssrc, Items: []rtcp.SourceDescriptionItem{{Type: rtcp.SDESCNAME, Text: "snag"}}}}},
	}
	if bye {
		packets = append(packets, &rtcp.Goodbye{Sources: []uint32{s.ssrc}})
	}
	if b, err := rtcp.Marshal(packets); err == nil {
		_, _ = s.control.Write(b)
	}
}
