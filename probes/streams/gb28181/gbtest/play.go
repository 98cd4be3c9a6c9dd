package gbtest

import (
	"encoding/binary"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"
)

// played is a camera that was asked to send.
type played struct {
	dial   func() (net.Conn, error)
	framed bool // RFC 4571
	stop   chan struct{}
	bye    string
	send   func([]byte)
}

var (
	mediaLine = regexp.MustCompile(`(?m)^m=video (\d+) (RTP/AVP|TCP/RTP/AVP) 96\r$`)
	connLine  = regexp.MustCompile(`(?m)^c=IN IP[46] (\S+)\r$`)
	ssrcLine  = regexp.MustCompile(`(?m)^y=(\d{10})\r$`)
)

// invited takes an offer and makes the answer (annex F of the standard).
func (p *Platform) invited(req *sip.Request, send func([]byte)) (string, error) {
	offer := string(req.Body())
	m, c, y := mediaLine.FindStringSubmatch(offer), connLine.FindStringSubmatch(offer), ssrcLine.FindStringSubmatch(offer)
	if m == nil || c == nil || y == nil || !strings.Contains(offer, "s=Play\r\n") || !strings.Contains(offer, "a=recvonly\r\n") || !strings.Contains(offer, "a=rtpmap:96 PS/90000\r\n") {
		return "", fmt.Errorf("an offer that the standard does not have:\n%s", offer)
	}
	if subject := req.GetHeader("Subject"); subject == nil || !strings.HasPrefix(subject.Value(), req.Recipient.User+":"+y[1]+",") {
		return "", fmt.Errorf("subject %v for %s, ssrc %s", subject, req.Recipient.User, y[1])
	}
	to, network := net.JoinHostPort(c[1], m[1]), "udp"
	answerPort, setup := "40000", ""
	x := &played{stop: make(chan struct{}), send: send, framed: m[2] == "TCP/RTP/AVP"}
	if x.framed {
		network = "tcp"
	}
	x.dial = func() (net.Conn, error) { return net.Dial(network, to) }
	switch {
	case strings.Contains(offer, "a=setup:passive\r\n"):
		setup = "a=setup:active\r\n"
	case strings.Contains(offer, "a=setup:active\r\n"):
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		p.t.Cleanup(func() { _ = l.Close() })
		_, answerPort, _ = net.SplitHostPort(l.Addr().String())
		setup, x.dial = "a=setup:passive\r\n", l.Accept
	}
	x.bye = fmt.Sprintf("BYE sip:snag@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP %s;branch=z9hG4bKbye%s\r\nFrom: <sip:%s@3402000000>;tag=p\r\nTo: %s\r\nCall-ID: %s\r\nCSeq: 1 BYE\r\nContent-Length: 0\r\n\r\n",
		p.Address, y[1], p.ID, req.From().Value(), req.CallID().Value())
	if old := p.calls[req.CallID().Value()]; old == nil { // a retransmission changes nothing
		p.calls[req.CallID().Value()] = x
	}
	sdp := fmt.Sprintf("v=0\r\no=%s 0 0 IN IP4 127.0.0.1\r\ns=Play\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=video %s %s 96\r\na=sendonly\r\na=rtpmap:96 PS/90000\r\n%sy=%s\r\n", p.ID, answerPort, m[2], setup, y[1])
	if p.SDP != nil {
		sdp = p.SDP(sdp)
	}
	return sdp, nil
}

// acknowledged begins to send.
func (p *Platform) acknowledged(req *sip.Request) {
	x := p.calls[req.CallID().Value()]
	if x == nil || p.NoMedia {
		return
	}
	go func() {
		c, err := x.dial()
		if err != nil {
			return
		}
		defer c.Close()
		pace := max(p.Lasts*1400/time.Duration(max(len(p.Film), 1)), time.Millisecond)
		for i := 0; i*1400 < len(p.Film); i++ {
			b := make([]byte, 12, 1412)
			b[0], b[1] = 0x80, 96
			binary.BigEndian.PutUint16(b[2:], uint16(i))
			binary.BigEndian.PutUint32(b[4:], uint32(i*300))
			b = append(b, p.Film[i*1400:min((i+1)*1400, len(p.Film))]...)
			if x.framed {
				b = append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...)
			}
			select {
			case <-x.stop:
				return
			case <-time.After(pace):
			}
			if _, err := c.Write(b); err != nil {
				return
			}
		}
		if p.EndsFilm {
			x.send([]byte(x.bye))
		}
		<-x.stop
	}()
}

func (p *Platform) ended(req *sip.Request) {
	if x := p.calls[req.CallID().Value()]; x != nil {
		delete(p.calls, req.CallID().Value())
		close(x.stop)
	}
}

// Playing reports how many cameras send.
func (p *Platform) Playing() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.calls)
}
