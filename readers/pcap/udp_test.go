package pcap

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"

	"snag/internal/packet"
)

// datagram writes one, whole.
func (w *wire) datagram(from, to string, payload []byte) []byte {
	src, dst := netip.MustParseAddrPort(from), netip.MustParseAddrPort(to)
	be := binary.BigEndian
	total := 28 + len(payload)
	b := []byte{0x45, 0, byte(total >> 8), byte(total), 0, 0, 0, 0, 64, packet.UDP, 0, 0}
	s, d := src.Addr().As4(), dst.Addr().As4()
	b = append(append(b, s[:]...), d[:]...)
	b = be.AppendUint16(be.AppendUint16(b, src.Port()), dst.Port())
	b = be.AppendUint16(b, uint16(8+len(payload)))
	b = append(append(b, 0, 0), payload...)
	w.frame(b, len(b))
	return b
}

// refuse answers a datagram by ICMP port unreachable.
func (w *wire) refuse(datagram []byte) {
	b := append([]byte{3, 3, 0, 0, 0, 0, 0, 0}, datagram[:28]...)
	h := []byte{0x45, 0, 0, byte(20 + len(b)), 0, 0, 0, 0, 64, packet.ICMP, 0, 0}
	h = append(append(h, datagram[16:20]...), datagram[12:16]...)
	w.frame(append(h, b...), 20+len(b))
}

// speech is a source of RTP, PCMU: 160 bytes each 20 ms.
type speech struct {
	w        *wire
	from, to string
	seq      uint16
	stamp    uint32
}

func (s *speech) packet() []byte {
	be := binary.BigEndian
	b := be.AppendUint16([]byte{0x80, 0}, s.seq)
	b = be.AppendUint32(be.AppendUint32(b, s.stamp), 0xabcdef)
	s.seq++
	s.stamp += 160
	return append(b, make([]byte, 160)...)
}

func (s *speech) send() []byte { return s.w.datagram(s.from, s.to, s.packet()) }

func TestRTP(t *testing.T) {
	w := newWire()
	s := &speech{w: w, from: "10.0.0.7:4000", to: "10.0.0.1:5000", seq: 65500}
	var late []byte
	jitter, before := 0.0, 0.0
	for i := range 500 {
		w.ms(20)
		shift := 0.0
		if i%2 == 1 {
			shift = 4 // every second packet comes 4 ms late
		}
		b := s.packet()
		switch {
		case i%50 == 10: // lost
			continue
		case i == 222:
			late = b
			continue
		}
		w.ms(shift)
		w.datagram(s.from, s.to, b)
		if i == 223 {
			w.datagram(s.from, s.to, late)
		}
		if i == 300 {
			w.datagram(s.from, s.to, b) // twice
		}
		w.ms(-shift)
		jitter += (math.Abs(shift-before) - jitter) / 16
		before = shift
	}
	r, _ := w.read(t)
	f := one(t, r)
	got := f.Up.RTP
	if got == nil || got.Packets != 490 || got.Lost != 10 || got.Late != 1 || got.Twice != 1 || got.Type != 0 || got.Clock != 8000 || got.SSRC != 0xabcdef {
		t.Fatalf("%+v", got)
	}
	if math.Abs(got.Jitter-jitter/1000) > 0.0005 || math.Abs(got.MaxGap-0.040) > 0.001 {
		t.Errorf("jitter %g, want %g; gap %g", got.Jitter, jitter/1000, got.MaxGap)
	}
	if f.Down.RTP != nil {
		t.Errorf("%+v", f.Down)
	}
}

// What begins as RTP does by chance is none.
func TestNoRTP(t *testing.T) {
	w := newWire()
	for i := range 100 {
		b := make([]byte, 40)
		b[0] = 0x80
		binary.BigEndian.PutUint16(b[2:], uint16(i*7919))
		w.ms(10)
		w.datagram("10.0.0.7:4000", "10.0.0.1:5000", b)
	}
	r, _ := w.read(t)
	if f := one(t, r); f.Up.RTP != nil || f.Up.Packets != 100 {
		t.Errorf("%+v", f.Up)
	}
}

func message(start string, lines ...string) []byte {
	return []byte(start + "\r\nVia: SIP/2.0/UDP 10.0.0.7:5060;branch=z9hG4bK1\r\nFrom: <sip:a@x>;tag=1\r\nTo: <sip:b@y>;tag=2\r\nCall-ID: a84b4c76e66710@pc33\r\n" +
		strings.Join(lines, "\r\n"))
}

func description(addr string, port int) string {
	return fmt.Sprintf("v=0\r\no=- 1 1 IN IP4 %s\r\ns=-\r\nc=IN IP4 %s\r\nt=0 0\r\nm=audio %d RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\n", addr, addr, port)
}

func described(cseq, sdp string) []string {
	return []string{"CSeq: " + cseq, "Content-Type: application/sdp", fmt.Sprintf("Content-Length: %d", len(sdp)), "", sdp}
}

// A call that ends by BYE, and media that go on: to a port that is closed by then.
func TestRTPAfterBye(t *testing.T) {
	const caller, callee = "10.0.0.7:5060", "10.0.0.1:5060"
	for _, goesOn := range []bool{true, false} {
		w := newWire()
		w.datagram(caller, callee, message("INVITE sip:b@10.0.0.1 SIP/2.0", described("1 INVITE", description("10.0.0.7", 4000))...))
		w.ms(50)
		w.datagram(callee, caller, message("SIP/2.0 180 Ringing", "CSeq: 1 INVITE", "Content-Length: 0", "", ""))
		w.ms(950)
		w.datagram(callee, caller, message("SIP/2.0 200 OK", described("1 INVITE", description("10.0.0.1", 5000))...))
		up := &speech{w: w, from: "10.0.0.7:4000", to: "10.0.0.1:5000"}
		down := &speech{w: w, from: "10.0.0.1:5000", to: "10.0.0.7:4000", stamp: 77}
		for range 100 {
			up.send()
			down.send()
			w.ms(20)
		}
		w.datagram(callee, caller, message("BYE sip:a@10.0.0.7 SIP/2.0", "CSeq: 1 BYE", "Content-Length: 0", "", ""))
		w.ms(20)
		w.datagram(caller, callee, message("SIP/2.0 200 OK", "CSeq: 1 BYE", "Content-Length: 0", "", ""))
		n := 10
		if goesOn {
			n = 200
		}
		for i := range n {
			b := up.send()
			if goesOn && i%20 == 0 {
				w.ms(0.1)
				w.refuse(b)
			}
			w.ms(20)
		}
		r, _ := w.read(t)
		if len(r.SIPCalls) != 1 {
			t.Fatalf("calls %+v", r.SIPCalls)
		}
		c := r.SIPCalls[0]
		if c.ID != "a84b4c76e66710@pc33" || c.Caller != caller || c.Code != 200 || c.Ringing == 0 || c.Answered-c.T != 1e9 || c.ByeFrom != callee || len(c.Media) != 2 {
			t.Errorf("%+v", c)
		}
		if goesOn != (c.AfterBye > 150) || !goesOn && c.AfterBye != 0 {
			t.Errorf("%d packets after the BYE", c.AfterBye)
		}
		for _, f := range r.Flows {
			if f.Client != "10.0.0.7:4000" {
				continue
			}
			if f.Call != c.ID || f.Up.AfterBye != c.AfterBye || f.Down.RTP == nil || f.Up.RTP.Clock != 8000 || f.Up.RTP.Lost != 0 {
				t.Errorf("%+v", f)
			}
			if goesOn && (f.Up.Unreachable != 10 || f.Up.SentSince != 199) {
				t.Errorf("%d messages, %d datagrams since", f.Up.Unreachable, f.Up.SentSince)
			}
		}
	}
}
