package pcap

import (
	"slices"
	"testing"

	"snag/internal/packet"
	"snag/recording"
)

// What a request waited for, and whether its server's kernel had it.
func TestSilence(t *testing.T) {
	for _, c := range []struct {
		name          string
		play          func(w *wire, c, s *end)
		length, acked float64 // s; 0: there is no silence; -1: it was never acknowledged
		open, first   bool
		begins        string
	}{
		{"an answer that comes late", func(w *wire, c, s *end) {
			c.data = []byte("GET / HTTP/1.1\r\n")
			c.send(17)
			w.ms(20)
			s.acks()
			w.ms(5200)
			s.send(500)
			c.acks()
			c.close()
		}, 5.22, 0.02, false, true, "an HTTP request"},
		{"no answer, until the client gives up", func(w *wire, c, s *end) {
			c.send(100)
			w.ms(20)
			s.send(500)
			c.acks()
			w.ms(100)
			c.send(80)
			w.ms(10)
			s.acks()
			w.ms(7000)
			c.close()
		}, 7.01, 0.01, true, false, ""},
		{"no answer and no ACK", func(w *wire, c, s *end) {
			c.send(100)
			for _, ms := range []float64{200, 400, 800, 1600} {
				w.ms(ms)
				c.segment(push, c.seq-100, c.ack, 100)
			}
		}, 3, -1, true, true, ""},
		{"a request with which the client closes its side", func(w *wire, c, s *end) {
			c.data = []byte("GET / HTTP/1.1\r\n")
			c.send(17)
			c.segment(packet.FIN|packet.ACK, c.seq, c.ack, 0)
			c.seq++
			w.ms(20)
			s.acks()
			w.ms(5000)
			s.segment(packet.FIN|packet.ACK, s.seq, s.ack, 0)
		}, 5.02, 0.02, true, true, "an HTTP request"},
		{"an unbind of LDAP", func(w *wire, c, s *end) {
			c.send(100)
			w.ms(20)
			s.send(500)
			c.acks()
			c.data = []byte{0x30, 5, 2, 1, 7, 0x42, 0}
			c.send(7)
			w.ms(20)
			s.acks()
			w.ms(4000)
			s.segment(packet.RST, s.seq, 0, 0)
		}, 0, 0, false, false, ""},
		{"quick answers", func(w *wire, c, s *end) {
			for range 5 {
				c.send(100)
				w.ms(900)
				s.send(500)
				c.acks()
				w.ms(5000)
			}
			c.close()
		}, 0, 0, false, false, ""},
		{"a farewell", func(w *wire, c, s *end) {
			c.send(100)
			w.ms(20)
			s.send(500)
			c.acks()
			w.ms(3000)
			c.send(31)
			c.segment(packet.FIN|packet.ACK, c.seq, c.ack, 0)
			w.ms(20)
			s.segment(packet.RST, s.seq, 0, 0)
		}, 0, 0, false, false, ""},
		{"a report each few seconds, that nobody answers", func(w *wire, c, s *end) {
			for range 5 {
				c.send(100)
				w.ms(20)
				s.acks()
				w.ms(3000)
			}
		}, 0, 0, false, false, ""},
		{"an alert of TLS", func(w *wire, c, s *end) {
			c.send(100)
			w.ms(20)
			s.send(500)
			c.acks()
			c.data = []byte{0x15, 3, 3, 0, 26}
			c.send(31)
			s.acks()
			w.ms(4000)
			s.segment(packet.RST, s.seq, 0, 0)
		}, 0, 0, false, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire()
			cl, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
			cl.open(20)
			c.play(w, cl, s)
			r, _ := w.read(t)
			f := one(t, r)
			q := f.Silence
			if f.Cut {
				t.Error("it is cut")
			}
			if (q == nil) != (c.length == 0) {
				t.Fatalf("%+v", q)
			}
			if q == nil {
				return
			}
			about(t, "the wait", &q.Length, c.length)
			switch {
			case c.acked < 0 && q.Acked != nil:
				t.Errorf("it was acknowledged after %g s", *q.Acked)
			case c.acked >= 0:
				about(t, "the ACK", q.Acked, c.acked)
			}
			var wait []recording.Segment
			for _, row := range r.Segments {
				if row.Wait {
					wait = append(wait, row)
				}
			}
			if len(wait) < 2 || !wait[0].Up || wait[0].T.Sub(f.T).Seconds() > q.After+0.001 || !slices.ContainsFunc(wait, func(w recording.Segment) bool { return w.Up && w.Len > 0 }) {
				t.Errorf("segments of the wait: %+v", wait)
			}
			if q.Open != c.open || q.First != c.first || q.Begins != c.begins {
				t.Errorf("%+v", q)
			}
		})
	}
}

// A request that nobody acknowledged, and that was not sent again: the capture has not what came next.
func TestNotCapturedToItsEnd(t *testing.T) {
	w := newWire()
	c, _ := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
	c.open(20)
	c.data = []byte("GET / HTTP/1.1\r\n")
	c.send(17)
	w.ms(5000)
	other, _ := connection(w, "10.0.0.7:40113", "10.0.0.1:80")
	other.open(20)
	r, _ := w.read(t)
	for _, f := range r.Flows {
		if f.Silence != nil {
			t.Errorf("%+v", f.Silence)
		}
	}
}

// Only a reset of the server, on whose answer somebody waits, takes anything from anybody.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		name  string
		play  func(w *wire, c, s *end)
		cut   bool
		state string
	}{
		{"while a request is open", func(w *wire, c, s *end) {
			c.send(100)
			w.ms(300)
			s.segment(packet.RST|packet.ACK, s.seq, c.seq, 0)
		}, true, "ESTABLISHED"},
		{"while an answer is on its way", func(w *wire, c, s *end) {
			c.send(100)
			w.ms(20)
			s.ack = c.seq
			s.send(1448)
			s.send(1448)
			s.segment(packet.RST|packet.ACK, s.seq, c.seq, 0)
		}, true, "ESTABLISHED"},
		{"a while after an answer for which the ACK is held back", func(w *wire, c, s *end) {
			c.send(100)
			w.ms(20)
			s.ack = c.seq
			s.send(600)
			w.ms(2)
			c.acks()
			c.send(100)
			w.ms(20)
			s.ack = c.seq
			s.send(600)
			w.ms(15)
			s.segment(packet.RST|packet.ACK, s.seq, c.seq, 0)
		}, false, "ESTABLISHED"},
		{"with a request that closes the client's side", func(w *wire, c, s *end) {
			c.data = []byte("GET / HTTP/1.1\r\n")
			c.send(17)
			c.segment(packet.FIN|packet.ACK, c.seq, c.ack, 0)
			w.ms(900)
			s.segment(packet.RST|packet.ACK, s.seq, c.seq+1, 0)
		}, true, "CLOSE_WAIT"},
		{"after the answer", func(w *wire, c, s *end) {
			c.send(100)
			w.ms(20)
			s.ack = c.seq
			s.send(1448)
			c.acks()
			w.ms(900)
			s.segment(packet.RST|packet.ACK, s.seq, c.seq, 0)
		}, false, "ESTABLISHED"},
		{"by the client", func(w *wire, c, s *end) {
			c.send(100)
			w.ms(20)
			s.ack = c.seq
			s.send(1448)
			c.segment(packet.RST|packet.ACK, c.seq, s.seq, 0)
		}, false, "ESTABLISHED"},
		{"of a client that opened it in vain", func(w *wire, c, s *end) {
			w.ms(900)
			c.segment(packet.RST|packet.ACK, c.seq, s.seq, 0)
		}, false, "ESTABLISHED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire()
			cl, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
			cl.open(20)
			c.play(w, cl, s)
			r, _ := w.read(t)
			if f := one(t, r); f.Cut != c.cut {
				t.Errorf("cut: %v", f.Cut)
			}
			var cut uint64
			for _, row := range r.Turns {
				cut += row.Cut
			}
			if (cut == 1) != c.cut {
				t.Errorf("%d requests cut", cut)
			}
			if len(r.Resets) != 1 || r.Resets[0].State != c.state {
				t.Errorf("%+v", r.Resets)
			}
		})
	}
}

// A scan for open ports never stood.
func TestHalfOpenScan(t *testing.T) {
	w := newWire()
	c, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
	c.segment(packet.SYN, c.seq, 0, 0)
	w.ms(5)
	s.segment(packet.SYN|packet.ACK, s.seq, c.seq+1, 0)
	w.ms(0.1)
	c.segment(packet.RST, c.seq+1, 0, 0)
	r, _ := w.read(t)
	if len(r.Resets) != 1 || r.Resets[0].State != "SYN_RECV" {
		t.Errorf("%+v", r.Resets)
	}
}

// What no path lost: data that was captured behind its ACK, packets on both sides of a
// router, and what lay beyond the receiver's window.
func TestNoLoss(t *testing.T) {
	for _, c := range []struct {
		name   string
		play   func(w *wire, c, s *end)
		copies uint64
		again  uint64
	}{
		{"ACKs captured before their data", func(w *wire, c, s *end) {
			for range 20 {
				from, id := s.seq, s.id
				s.seq += 1448
				c.acks()
				w.ms(0.02)
				s.id = id
				s.segment(push, from, s.ack, 1448)
				w.ms(5)
			}
		}, 0, 0},
		{"before and behind a router", func(w *wire, c, s *end) {
			for range 10 {
				s.send(1448)
				w.ms(4)
				w.routed(1)
				w.ms(1)
				c.acks()
				w.ms(4)
				w.routed(1)
				w.ms(20)
			}
		}, 20, 0},
		{"beyond the window", func(w *wire, c, s *end) {
			c.ack, c.window = s.seq, 0 // of 1,536 bytes 88 are left, which its scale can't say
			c.segment(ack, c.seq, c.ack, 0)
			w.ms(20)
			from := s.seq
			s.send(1448)
			w.ms(200)
			s.segment(push, from, s.ack, 1448)
			w.ms(5)
			c.window = 502
			c.acks()
		}, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire()
			cl, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
			if c.again > 0 {
				cl.window = 12
			}
			cl.open(20)
			s.send(1448)
			w.ms(20)
			if c.again == 0 {
				cl.acks()
				w.ms(20)
			}
			c.play(w, cl, s)
			r, _ := w.read(t)
			f := one(t, r)
			if f.Down.Resent != c.again || f.Down.Needless != c.again || f.Down.Reordered != 0 || f.Down.Missed != 0 || f.Down.DupAcks != 0 || f.Up.Copies+f.Down.Copies != c.copies {
				t.Errorf("%+v", f.Down)
			}
		})
	}
}

// How long a sender stood still until its timer sent again what was lost.
func TestTimedOut(t *testing.T) {
	w := newWire()
	c, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
	c.open(20)
	for range 3 {
		s.send(1448)
		w.ms(20)
		c.acks()
		w.ms(100) // it has nothing to say meanwhile
		s.send(1448)
		w.ms(800)
		s.segment(push, s.seq-1448, s.ack, 1448)
		w.ms(20)
		c.acks()
	}
	r, _ := w.read(t)
	f := one(t, r)
	about(t, "the time", &f.Down.TimedOut, 2.4)
	if f.Up.TimedOut != 0 || f.Down.Timeouts != 3 {
		t.Errorf("%+v", f)
	}
}

// Linux asks whether a window is still shut by a segment without data.
func TestProbesOfAShutWindow(t *testing.T) {
	w := newWire()
	c, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
	c.open(20)
	s.send(1448)
	w.ms(20)
	c.ack, c.window = s.seq, 0
	c.segment(ack, c.seq, c.ack, 0)
	for _, ms := range []float64{200, 400, 800, 1600} {
		w.ms(ms)
		s.segment(ack, s.seq-1, s.ack, 0)
		w.ms(20)
		c.segment(ack, c.seq, c.ack, 0)
	}
	r, _ := w.read(t)
	f := one(t, r)
	if f.Down.Probes != 4 || !f.Down.ShutMore || f.Down.WindowShut < 3 || f.Down.Resent != 0 {
		t.Errorf("%+v", f.Down)
	}
	if f.Up.ShutMore {
		t.Error("the client had nothing to send")
	}
}
