package pcap

import (
	"bytes"
	"net/netip"
	"strconv"
	"strings"

	"github.com/pion/sdp/v3"

	"snag/recording"
)

// Bounds of the calls that are followed.
const (
	maxCalls   = 4096
	maxCallIDs = 128 // bytes of a Call-ID that are kept
	maxMedia   = 8   // addresses of one call
)

// afterGoodbye is how long packets of a call may be on their way when its BYE comes.
const afterGoodbye = second / 2

// call is one SIP dialogue (RFC 3261, section 12), as datagrams show it.
type call struct {
	id                                   string
	from, to                             netip.AddrPort // of the first INVITE
	invited, ringing, answered, bye, end int64
	byeFrom                              netip.AddrPort
	code                                 int // of the INVITE's final answer
	invites                              int // retransmissions included
	media                                []netip.AddrPort
	clocks                               map[uint8]float64 // by payload type
	after                                uint64
	afterFor                             int64
}

// calls are the dialogues, and which addresses their media go to.
type calls struct {
	byID  map[string]*call
	media map[netip.AddrPort]*call
	order []*call
	left  uint64 // that found no room
}

// sipStart reports whether a datagram begins as SIP does: an answer, or a method and a
// sip or sips address.
func sipStart(b []byte) bool {
	if len(b) < 24 || b[0] < 'A' || b[0] > 'Z' {
		return false
	}
	if bytes.HasPrefix(b, []byte("SIP/2.0 ")) {
		return true
	}
	i := bytes.IndexByte(b[:16], ' ')
	return i > 2 && (bytes.HasPrefix(b[i+1:], []byte("sip:")) || bytes.HasPrefix(b[i+1:], []byte("sips:")))
}

// take takes a datagram that begins as SIP does. What is cut by the snap length is
// read as far as it goes.
func (l *calls) take(d *datagrams, at int64, src, dst netip.AddrPort, b []byte) {
	m, ok := readSIP(b)
	if !ok {
		return
	}
	name := strings.ToValidUTF8(m.callID[:min(len(m.callID), maxCallIDs)], "?")
	c := l.byID[name]
	if c == nil {
		if m.method != "INVITE" {
			return
		}
		if c = l.add(name); c == nil {
			return
		}
		c.invited, c.from, c.to = at, src, dst
	}
	switch {
	case m.method == "INVITE":
		c.invites++
	case m.method == "BYE" && c.bye == 0:
		c.bye, c.byeFrom = at, src
		d.goodbye(c)
	case m.method == "" && m.of == "INVITE":
		c.answer(at, m.code)
	}
	c.end = at
	if len(m.body) > 0 && c.bye == 0 {
		l.describe(d, c, m.body)
	}
}

// answer takes a response to the INVITE. A final one above 299 is none that answers the call.
func (c *call) answer(at int64, code int) {
	switch {
	case code > 100 && code < 200 && c.ringing == 0:
		c.ringing = at
	case code >= 200 && c.code == 0:
		c.code = code
		if code < 300 {
			c.answered = at
		}
	}
}

func (l *calls) add(id string) *call {
	if len(l.byID) >= maxCalls {
		l.left++
		return nil
	}
	c := &call{id: id, clocks: map[uint8]float64{}}
	l.byID[id] = c
	l.order = append(l.order, c)
	return c
}

// describe takes the addresses and clocks of a session description (RFC 8866).
func (l *calls) describe(d *datagrams, c *call, body []byte) {
	var s sdp.SessionDescription
	if s.Unmarshal(body) != nil {
		return
	}
	for _, m := range s.MediaDescriptions {
		in := s.ConnectionInformation
		if m.ConnectionInformation != nil {
			in = m.ConnectionInformation
		}
		if in == nil || in.Address == nil || m.MediaName.Port.Value <= 0 || m.MediaName.Port.Value > 65535 {
			continue
		}
		addr, err := netip.ParseAddr(in.Address.Address)
		if err != nil || addr.IsUnspecified() {
			continue // a name, or on hold
		}
		to := netip.AddrPortFrom(addr.Unmap(), uint16(m.MediaName.Port.Value))
		for _, a := range m.Attributes {
			if kind, clock, ok := rtpmap(a.Key, a.Value); ok && len(c.clocks) < 64 {
				c.clocks[kind] = clock
			}
		}
		if l.media[to] == c {
			continue
		}
		if len(c.media) < maxMedia {
			c.media = append(c.media, to)
			l.media[to] = c
			d.greeted(to, c)
		}
	}
}

// rtpmap reads "a=rtpmap:96 opus/48000/2" (RFC 8866, 6.6).
func rtpmap(name, value string) (kind uint8, clock float64, ok bool) {
	if name != "rtpmap" {
		return 0, 0, false
	}
	number, rest, _ := strings.Cut(value, " ")
	parts := strings.Split(rest, "/")
	n, err := strconv.ParseUint(number, 10, 7)
	if err != nil || len(parts) < 2 {
		return 0, 0, false
	}
	hz, err := strconv.ParseFloat(parts[1], 64)
	return uint8(n), hz, err == nil && hz >= 1000 && hz <= 1e6
}

// close writes the calls' rows.
func (l *calls) close(a *analysis) {
	for _, c := range l.order {
		row := recording.SIPCall{
			T: recording.Time(c.invited), End: recording.Time(c.end), Netns: a.netns, ID: c.id,
			Caller: c.from.String(), Callee: c.to.String(), INVITEs: c.invites, Code: c.code,
			Ringing: recording.Time(c.ringing), Answered: recording.Time(c.answered), Bye: recording.Time(c.bye),
			AfterBye: c.after, AfterByeFor: seconds(c.afterFor),
		}
		if c.bye != 0 {
			row.ByeFrom = c.byeFrom.String()
		}
		for _, m := range c.media {
			row.Media = append(row.Media, m.String())
		}
		a.out.Append(row)
	}
}
