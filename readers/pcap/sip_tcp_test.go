package pcap

import (
	"bytes"
	"net/netip"
	"testing"
)

// overTCP is the same message with the transport that it goes by.
func overTCP(b []byte) []byte {
	return bytes.Replace(b, []byte("SIP/2.0/UDP"), []byte("SIP/2.0/TCP"), 1)
}

// A call over TCP: however segments cut its messages, on SIP's port and on another, with
// empty lines between, and with media that go on after its BYE.
func TestSIPOverTCP(t *testing.T) {
	for _, x := range []struct {
		port     string
		segments int
	}{{"5060", 1400}, {"5060", 7}, {"5070", 300}} {
		w := newWire()
		c, s := connection(w, "10.0.0.7:40100", "10.0.0.1:"+x.port)
		c.open(2)
		c.says(append([]byte("\r\n\r\n"), overTCP(message("INVITE sip:b@10.0.0.1 SIP/2.0", described("1 INVITE", description("10.0.0.7", 4000))...))...), x.segments)
		w.ms(50)
		ringing := overTCP(message("SIP/2.0 180 Ringing", "CSeq: 1 INVITE", "l: 0", "", "")) // the compact form
		answer := overTCP(message("SIP/2.0 200 OK", described("1 INVITE", description("10.0.0.1", 5000))...))
		s.ack = c.seq
		s.says(append(ringing, answer...), x.segments) // two in one go
		c.acks()
		up := &speech{w: w, from: "10.0.0.7:4000", to: "10.0.0.1:5000"}
		for range 50 {
			up.send()
			w.ms(20)
		}
		s.says(overTCP(message("BYE sip:a@10.0.0.7 SIP/2.0", "CSeq: 1 BYE", "Content-Length: 0", "", "")), x.segments)
		for range 100 {
			up.send()
			w.ms(20)
		}
		r, _ := w.read(t)
		if len(r.SIPCalls) != 1 {
			t.Fatalf("port %s, segments of %d: %d calls", x.port, x.segments, len(r.SIPCalls))
		}
		call := r.SIPCalls[0]
		want := "10.0.0.7:40100"
		if call.Caller != want || call.Callee != "10.0.0.1:"+x.port || call.Code != 200 || call.Ringing == 0 || call.Answered == 0 || call.ByeFrom != "10.0.0.1:"+x.port || len(call.Media) != 2 || call.AfterBye < 60 {
			t.Errorf("port %s, segments of %d: %+v", x.port, x.segments, call)
		}
	}
}

// A message of which the capture lacks a part is lost, and the next one is read.
func TestSIPOverTCPWithAHole(t *testing.T) {
	w := newWire()
	c, s := connection(w, "10.0.0.7:40100", "10.0.0.1:5060")
	c.open(2)
	options := overTCP(message("OPTIONS sip:b@10.0.0.1 SIP/2.0", "CSeq: 1 OPTIONS", "Content-Length: 0", "", ""))
	c.says(options[:60], 60)
	c.seq += uint32(len(options) - 60) // not captured
	s.ack = c.seq
	s.acks()
	w.ms(200)
	c.says(overTCP(message("INVITE sip:b@10.0.0.1 SIP/2.0", described("2 INVITE", description("10.0.0.7", 4000))...)), 500)
	w.ms(200)
	s.acks()
	r, _ := w.read(t)
	if len(r.SIPCalls) != 1 || r.SIPCalls[0].INVITEs != 1 || len(r.SIPCalls[0].Media) != 1 {
		t.Errorf("%+v", r.SIPCalls)
	}
}

func TestContentLength(t *testing.T) {
	for head, want := range map[string]int{
		"Content-Length: 12": 12, "content-length :7": 7, "l:0": 0, "L: 3": 3, "Via: x\r\nl: 5": 5,
		"Content-Length: -1": -1, "Content-Length: 99999999": -1, "Content-Length: x": -1, "Via: x": -1, "": -1,
	} {
		n, ok := contentLength([]byte(head))
		if ok != (want >= 0) || ok && n != want {
			t.Errorf("%q: %d, %v", head, n, ok)
		}
	}
}

// Whatever comes over such a connection, and however it is cut, little of it is held.
func FuzzSIPStream(f *testing.F) {
	f.Add(overTCP(message("INVITE sip:b@10.0.0.1 SIP/2.0", described("1 INVITE", description("10.0.0.7", 4000))...)), uint8(7))
	f.Add([]byte("\r\n\r\nSIP/2.0 200 OK\r\nl: 5\r\n\r\n12345INVITE sip:x SIP/2.0\r\n"), uint8(1))
	f.Add([]byte("INVITE sip:x SIP/2.0\r\nContent-Length: 65000\r\n\r\n"), uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, cut uint8) {
		a := newAnalysis(nothing{}, 1)
		d := &sipStream{of: a.sip, src: netip.MustParseAddrPort("10.0.0.7:1"), dst: netip.MustParseAddrPort("10.0.0.1:5060")}
		for at := int64(1); len(b) > 0; at++ {
			n := min(int(cut)+1, len(b))
			d.Data(at, b[:n])
			if b = b[n:]; at%5 == 4 {
				d.Hole(at, 1)
			}
			if len(d.held) > maxSIP+256 {
				t.Fatalf("%d bytes are held", len(d.held))
			}
		}
		a.sip.close()
		a.datagrams.close(a)
	})
}
