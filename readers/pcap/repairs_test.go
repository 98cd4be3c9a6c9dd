package pcap

import "testing"

// sentAgain is two segments, an ACK that has seen neither, and the first of them again.
func sentAgain(w *wire, c, s *end) {
	from := s.seq
	s.send(1448)
	s.send(1448)
	w.ms(20)
	c.segment(ack, c.seq, from, 0)
	s.segment(push, from, s.ack, 1448)
}

// Without SACK nobody reports what came twice: what of it the order and the times of the
// packets show is not taken for lost, and what they can't show is not told at all.
func TestSentAgainWithoutSACK(t *testing.T) {
	const rounds = 30
	for _, c := range []struct {
		name             string
		stamps           bool
		rtt              float64
		round            func(w *wire, c, s *end)
		needless, filled uint64
	}{
		{"at the receiver: the first comes after its repair", true, 0.05, func(w *wire, c, s *end) {
			from, id, stamp := s.seq, s.id, s.w.now
			s.seq, s.id = s.seq+1448, s.id+1
			s.send(1448)
			c.segment(ack, c.seq, from, 0)
			w.ms(20)
			s.segment(push, from, s.ack, 1448) // the repair
			w.ms(0.05)
			c.acks()
			w.ms(5)
			keep := s.id
			s.id, s.stamp = id, uint32(stamp/1e6)-uint32(w.now/1e6)
			s.segment(push, from, s.ack, 1448) // late
			s.id, s.stamp = keep, 0
			w.ms(0.05)
			c.acks()
			w.ms(10)
		}, rounds, 0},
		{"at the receiver: lost before", true, 0.05, func(w *wire, c, s *end) {
			from := s.seq
			s.seq, s.id = s.seq+1448, s.id+1
			s.send(1448)
			c.segment(ack, c.seq, from, 0)
			w.ms(20)
			s.segment(push, from, s.ack, 1448)
			w.ms(0.05)
			c.acks()
			w.ms(10)
		}, 0, rounds},
		{"at the sender: the ACK answers the first, by its timestamp", true, 20, func(w *wire, c, s *end) {
			from := s.seq
			s.send(1448)
			s.send(1448)
			w.ms(20)
			heard := c.heard
			c.segment(ack, c.seq, from, 0)
			s.segment(push, from, s.ack, 1448)
			w.ms(18)
			c.heard = heard // the first one's, which came late
			c.acks()
			w.ms(20)
		}, rounds, 0},
		{"at the sender: the ACK comes too soon to be of the second", false, 20, func(w *wire, c, s *end) {
			sentAgain(w, c, s)
			w.ms(2)
			c.acks()
			w.ms(20)
		}, rounds, 0},
		{"at the sender: answered once more, with nothing on its way", false, 20, func(w *wire, c, s *end) {
			sentAgain(w, c, s)
			w.ms(20)
			c.acks()
			w.ms(3)
			c.acks()
			w.ms(20)
		}, rounds, 0},
		{"at the sender: lost behind the capture", false, 20, func(w *wire, c, s *end) {
			sentAgain(w, c, s)
			w.ms(20)
			c.acks()
			w.ms(20)
		}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire()
			cl, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
			cl.noSACK, cl.stamps, s.stamps = true, c.stamps, c.stamps
			cl.open(c.rtt)
			for range 5 { // a round trip to measure by
				s.send(1448)
				w.ms(c.rtt)
				cl.acks()
				w.ms(5)
			}
			for range rounds {
				c.round(w, cl, s)
			}
			cl.close()
			r, _ := w.read(t)
			d := one(t, r).Down
			if !d.NoSACK || d.Resent != rounds || d.Needless != c.needless || d.Filled != c.filled {
				t.Errorf("%+v", d)
			}
			last := r.Sockets[0].TCP
			for _, row := range r.Sockets {
				if row.Local == "10.0.0.1:80" {
					last = row.TCP
				}
			}
			if !last.NoSACK || uint64(last.DSACKDups) != c.needless {
				t.Errorf("%+v", *last)
			}
		})
	}
}
