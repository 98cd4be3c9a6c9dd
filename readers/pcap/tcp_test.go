package pcap

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"snag/internal/packet"
	"snag/recording"
)

const (
	ack  = packet.ACK
	push = packet.ACK | packet.PSH
)

func about(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > 0.02*want+1e-4 {
		g := math.NaN()
		if got != nil {
			g = *got
		}
		t.Errorf("%s: %g s, want %g", what, g, want)
	}
}

func TestAConnectionFromOpenToClose(t *testing.T) {
	w := newWire()
	c, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
	c.open(20)
	for range 3 {
		c.send(100)
		w.ms(50) // 20 of way, 30 of work
		s.ack = c.seq
		s.send(1448)
		s.send(500)
		w.ms(0.05)
		c.acks()
		w.ms(100)
	}
	c.close()
	r, _ := w.read(t)
	f := one(t, r)
	about(t, "handshake", f.Handshake, 0.02005)
	about(t, "to the server", f.ToServer, 0.02)
	about(t, "rtt of the requests", f.Up.RTT, 0.05)
	if f.Client != "10.0.0.7:40112" || !f.Known || f.Closed != "fin" || f.First != "client" || f.Up.Bytes != 300 || f.Down.Bytes != 3*1948 ||
		f.Down.Segments != 6 || f.Down.Size != 1448 || f.Up.Resent+f.Down.Resent+f.Up.Reordered+f.Down.Reordered+f.Up.Missed+f.Down.Missed != 0 {
		t.Errorf("%+v", f)
	}
	var calls, serves uint64
	for _, row := range r.Turns {
		if row.Role == "call" {
			calls += row.N
			if row.Max < 0.0499 || row.Max > 0.051 {
				t.Errorf("a turn of %g s", row.Max)
			}
		} else {
			serves += row.N
		}
	}
	if calls != 3 || serves != 0 { // the capture is at the client: the server's own time is not known
		t.Errorf("%d calls, %d served", calls, serves)
	}
	var opened, closed uint64
	for _, row := range r.Connections {
		if row.Role == "accept" && row.Local == "10.0.0.1:80" && row.Remote == "10.0.0.7" {
			opened, closed = opened+row.Opened, closed+row.Closed
			if row.Closed > 0 && (row.BytesIn != 300 || row.BytesOut != 3*1948 || row.Short != 1) {
				t.Errorf("%+v", row)
			}
		}
	}
	if opened != 1 || closed != 1 {
		t.Errorf("%d opened, %d closed", opened, closed)
	}
}

// A segment that fills a hole was overtaken, or lost before the capture: its
// identification tells, or its timestamp.
func TestOvertakenOrSentAgain(t *testing.T) {
	for _, c := range []struct {
		name      string
		write     func(s *end)
		resent    uint64
		reordered uint64
		lost      bool
	}{
		{"overtaken", func(s *end) {
			from, id := s.seq, s.id
			s.seq, s.id = s.seq+1448, s.id+1
			s.send(1448)
			s.w.ms(12) // late, but its number is the lower
			keep, stamp := s.id, s.stamp
			s.id, s.stamp = id, -12&0xffffffff
			s.segment(push, from, s.ack, 1448)
			s.id, s.stamp = keep, stamp
		}, 0, 1, false},
		{"lost before the capture", func(s *end) {
			from := s.seq
			s.id++
			s.seq += 1448
			s.send(1448)
			s.w.ms(1) // soon, but sent after the other
			s.segment(push, from, s.ack, 1448)
		}, 1, 0, true},
		{"lost behind the capture", func(s *end) {
			s.send(1448)
			from := s.seq - 1448
			s.w.ms(220)
			s.segment(push, from, s.ack, 1448)
		}, 1, 0, false},
		{"captured twice", func(s *end) {
			s.send(1448)
			s.id--
			s.segment(push, s.seq-1448, s.ack, 1448)
		}, 0, 0, false},
		{"a keep-alive", func(s *end) {
			s.w.ms(5000)
			s.segment(ack, s.seq-1, s.ack, 0)
		}, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire()
			cl, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
			cl.open(20)
			s.send(1448)
			w.ms(20)
			cl.acks()
			w.ms(20)
			c.write(s)
			w.ms(20)
			cl.acks()
			cl.close()
			r, _ := w.read(t)
			f := one(t, r)
			if f.Down.Resent != c.resent || f.Down.Reordered != c.reordered || f.Down.Missed != 0 {
				t.Errorf("%+v", f.Down)
			}
			n := uint64(0)
			for _, row := range r.Retransmits {
				n += row.N
			}
			if n != c.resent {
				t.Errorf("%d in the table of what was sent again", n)
			}
		})
	}
}

// What was sent again needlessly: the receiver says so, or its ACK came before.
func TestNeedless(t *testing.T) {
	w := newWire()
	c, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
	c.open(20)
	for range 10 {
		s.send(1448)
		w.ms(250)
		s.segment(push, s.seq-1448, s.ack, 1448) // the ACK was late
		w.ms(1)
		c.ack = s.seq
		c.sack = [][2]uint32{{s.seq - 1448, s.seq}} // a duplicate (RFC 2883)
		c.segment(ack, c.seq, c.ack, 0)
		c.sack = nil
		w.ms(20)
	}
	r, _ := w.read(t)
	if f := one(t, r); f.Down.Resent != 10 || f.Down.Needless != 10 || f.Down.Timeouts != 10 {
		t.Errorf("%+v", f.Down)
	}
	last := r.Sockets[len(r.Sockets)-1]
	for _, row := range r.Sockets {
		if row.Local == "10.0.0.1:80" {
			last = row
		}
	}
	if last.TCP.DSACKDups != 10 || last.TCP.TotalRetrans != 10 || !last.Wire {
		t.Errorf("%+v", *last.TCP)
	}
}

// Three duplicate ACKs and then the segment again: a fast retransmission, no timeout.
func TestFast(t *testing.T) {
	w := newWire()
	c, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
	c.open(20)
	from := s.seq
	for range 5 {
		s.send(1448)
	}
	w.ms(20)
	for i := range 3 {
		c.sack = [][2]uint32{{from + 1448, from + uint32(i+2)*1448}}
		c.segment(ack, c.seq, from, 0)
	}
	c.sack = nil
	s.segment(push, from, s.ack, 1448)
	w.ms(20)
	c.acks()
	c.close()
	r, _ := w.read(t)
	if f := one(t, r); f.Down.Resent != 1 || f.Down.Timeouts != 0 || f.Down.DupAcks != 3 || f.Down.Needless != 0 {
		t.Errorf("%+v", f.Down)
	}
}

func TestWindows(t *testing.T) {
	w := newWire()
	c, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
	c.window = 23 // × 128: two segments
	c.open(20)
	for range 20 {
		s.send(1448)
		s.send(1448)
		w.ms(100) // all that was offered is on its way
		c.acks()
	}
	s.send(1448)
	w.ms(20)
	c.window = 0
	c.acks()
	for range 3 {
		w.ms(1000)
		s.segment(ack, s.seq-1, s.ack, 0)
		c.segment(ack, c.seq, c.ack, 0)
	}
	c.window = 23
	c.segment(ack, c.seq, c.ack, 0)
	w.ms(10)
	c.close()
	r, _ := w.read(t)
	f := one(t, r)
	about(t, "window full", &f.Down.WindowFull, 2)
	about(t, "window shut", &f.Down.WindowShut, 3)
	about(t, "longest", &f.Down.ShutMax, 3)
	if f.Down.FullAcks < 20 || f.Down.FullMost < f.Down.FullAcks-2 || f.Down.WindowMost == 0 || f.Up.FullAcks != 0 {
		t.Errorf("all but the last ACKs offered the largest window: %+v", f.Down)
	}
	if f.Down.Shut != 1 || f.Up.WindowFull != 0 || f.Down.Resent != 0 {
		t.Errorf("%+v", f.Down)
	}
	persist := 0
	for _, row := range r.Sockets {
		if row.Timer == "persist" && row.SendQ > 0 {
			persist++
		}
	}
	if persist < 2 {
		t.Errorf("%d rows with a shut window", persist)
	}
}

func TestResets(t *testing.T) {
	for _, c := range []struct {
		name, state, closed string
		write               func(c, s *end)
	}{
		{"in the middle", "ESTABLISHED", "server rst", func(c, s *end) {
			c.send(100)
			c.w.ms(1)
			s.ack = c.seq
			s.segment(packet.RST|ack, s.seq, s.ack, 0)
		}},
		{"after its FIN, while the other still sends", "FIN_WAIT2", "server rst", func(c, s *end) {
			s.segment(packet.FIN|ack, s.seq, s.ack, 0)
			s.seq++
			c.w.ms(1)
			c.send(100)
			c.w.ms(1)
			s.segment(packet.RST, s.seq, 0, 0)
		}},
		{"after all was said", "LAST_ACK", "server rst", func(c, s *end) {
			c.acks()
			c.segment(packet.FIN|ack, c.seq, c.ack, 0)
			c.seq++
			c.w.ms(1)
			s.ack = c.seq
			s.segment(ack, s.seq, s.ack, 0)
			s.segment(packet.RST|ack, s.seq, s.ack, 0)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire()
			cl, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
			cl.open(20)
			c.write(cl, s)
			r, _ := w.read(t)
			f := one(t, r)
			if len(r.Resets) != 1 || r.Resets[0].State != c.state || r.Resets[0].Local != "10.0.0.1:80" || r.Resets[0].Dir != "sent" || f.Closed != c.closed {
				t.Errorf("%+v, closed %q", r.Resets, f.Closed)
			}
		})
	}
	w := newWire()
	c, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
	c.segment(packet.SYN, c.seq, 0, 0)
	s.segment(packet.RST|ack, 0, c.seq+1, 0)
	r, _ := w.read(t)
	if f := one(t, r); f.Closed != "refused" || r.Handshakes[0].Refused != 1 || r.Resets[0].State != "LISTEN" {
		t.Errorf("%+v %+v", f, r.Resets)
	}
}

// Held writes are told; a program that waits 40 ms by itself, and one that set
// TCP_NODELAY, are not accused.
func TestHolds(t *testing.T) {
	held := func(t *testing.T, round func(c, s *end)) (sum recording.Hold, r *recording.Recording) {
		w := newWire()
		c, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
		c.open(0.1)
		for range 50 {
			round(c, s)
		}
		c.close()
		r, _ = w.read(t)
		for _, h := range r.Holds {
			sum.Held += h.Held
			sum.HoldSum += h.HoldSum
		}
		return sum, r
	}
	sum, _ := held(t, func(c, s *end) {
		c.send(50)
		c.w.ms(40)
		s.acks() // delayed
		c.w.ms(0.05)
		c.send(20) // what was held
		c.w.ms(0.2)
		s.ack = c.seq
		s.send(200)
		c.w.ms(0.05)
		c.acks()
		c.w.ms(3)
	})
	if sum.Held != 50 || math.Abs(sum.HoldSum-2) > 0.01 {
		t.Errorf("held %d for %g s", sum.Held, sum.HoldSum)
	}
	sum, r := held(t, func(c, s *end) {
		c.send(50)
		c.send(20) // at once: TCP_NODELAY
		c.w.ms(40)
		s.acks()
		c.w.ms(15)
		c.send(50)
		c.w.ms(4)
		c.send(10)
		c.w.ms(41)
		s.acks()
		c.w.ms(25)
	})
	if sum.Held != 0 {
		t.Errorf("held %d", sum.Held)
	}
	off := slices.ContainsFunc(r.Sockets, func(k recording.Socket) bool {
		return k.Options != nil && k.Options.NoDelay != nil && *k.Options.NoDelay
	})
	if !off {
		t.Error("that small segments did not wait for each other was not seen")
	}
	sum, _ = held(t, func(c, s *end) {
		c.send(50)
		c.w.ms(40)
		s.acks()
		c.w.ms(7) // the program's own pace
		c.send(20)
		c.w.ms(40)
		s.acks()
		c.w.ms(21)
	})
	if sum.Held != 0 {
		t.Errorf("held %d", sum.Held)
	}
}

// A full accept queue: SYNs without an answer for seconds, and SYN-ACKs sent again
// though the ACK had come.
func TestHandshakes(t *testing.T) {
	w := newWire()
	c, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
	c.segment(packet.SYN, c.seq, 0, 0)
	for range 2 {
		w.ms(1000)
		c.segment(packet.SYN, c.seq, 0, 0)
	}
	w.ms(1)
	s.segment(packet.SYN|ack, s.seq, c.seq+1, 0)
	c.segment(ack, c.seq+1, s.seq+1, 0)
	w.ms(1000)
	s.segment(packet.SYN|ack, s.seq, c.seq+1, 0)
	w.ms(1)
	c.segment(ack, c.seq+1, s.seq+1, 0)
	other, _ := connection(w, "10.0.0.8:40113", "10.0.0.1:80")
	for range 3 {
		other.segment(packet.SYN, other.seq, 0, 0)
		w.ms(1000)
	}
	r, _ := w.read(t)
	var sum recording.Handshakes
	for _, h := range r.Handshakes {
		sum.SYNs += h.SYNs
		sum.Opened += h.Opened
		sum.Late += h.Late
		sum.LateMax = max(sum.LateMax, h.LateMax)
		sum.Resent += h.Resent
		sum.Ignored += h.Ignored
		sum.Unanswered += h.Unanswered
	}
	if sum.SYNs != 2 || sum.Opened != 1 || sum.Late != 1 || sum.LateMax < 2 || sum.Resent != 4 || sum.Ignored != 1 || sum.Unanswered != 1 {
		t.Errorf("%+v", sum)
	}
	var failed uint64
	for _, p := range r.Connections {
		if p.Role == "accept" {
			failed += p.Failed
		}
	}
	if failed != 1 {
		t.Errorf("%d failed", failed)
	}
}

// More connections than are followed at a time: those that closed are counted, those
// that stood are told, and ports that are used again are new connections.
func TestManyConnections(t *testing.T) {
	w := newWire()
	for i := range maxConns + 500 {
		c, s := connection(w, fmt.Sprintf("10.%d.%d.7:%d", i/250%250, i%250, 20000+i%40000), "10.200.0.1:80")
		c.open(0.1)
		c.send(100)
		w.ms(0.1)
		s.acks()
	}
	for i := range 3 { // the same ports, three times over
		c, s := connection(w, "10.250.0.7:40000", "10.200.0.1:80")
		c.seq, s.seq = uint32(i)*1e6, uint32(i)*1e7
		c.open(0.1)
		c.send(10)
		s.acks()
		c.close()
		w.ms(20)
	}
	r, told := w.read(t)
	var opened, closed uint64
	for _, p := range r.Connections {
		if p.Role == "accept" {
			opened, closed = opened+p.Opened, closed+p.Closed
		}
	}
	if opened != maxConns+503 || closed != 3 {
		t.Errorf("%d opened, %d closed", opened, closed)
	}
	if n := len(r.Flows); n < maxFlows || n > maxFlows+3 {
		t.Errorf("%d rows of flows", len(r.Flows))
	}
	if why := told.Coverage[0].Why; told.Coverage[0].State != recording.CoveragePartial || !strings.Contains(why, "connections that stood were forgotten") {
		t.Errorf("coverage %+v", told.Coverage[0])
	}
}
