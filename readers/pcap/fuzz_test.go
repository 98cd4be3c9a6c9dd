package pcap

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"snag/internal/packet"
	capture "snag/internal/pcap"
	"snag/recording"
)

// analyse reads a capture from memory.
func analyse(b []byte, out recording.Sink) (*analysis, error) {
	a := newAnalysis(out, 1)
	r, err := capture.New(bytes.NewReader(b))
	if err != nil {
		return a, err
	}
	err = a.frames(context.Background(), r)
	a.drain()
	a.close()
	a.coverage("")
	return a, err
}

// FuzzRead: whatever a capture holds, times go on, and no counter is beyond what was
// captured.
func FuzzRead(f *testing.F) {
	w := newWire()
	c, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
	c.open(1)
	c.send(100)
	w.ms(1)
	s.ack = c.seq
	s.send(1448)
	s.segment(push, s.seq-1448, s.ack, 1448)
	c.sack = [][2]uint32{{s.seq - 1448, s.seq}}
	c.acks()
	c.sack = nil
	c.close()
	f.Add(bytes.Clone(w.b))
	w = newWire()
	call := message("INVITE sip:b@10.0.0.1 SIP/2.0", described("1 INVITE", description("10.0.0.7", 4000))...)
	w.datagram("10.0.0.7:5060", "10.0.0.1:5060", call)
	v := &speech{w: w, from: "10.0.0.1:5000", to: "10.0.0.7:4000"}
	for range 6 {
		w.ms(20)
		w.refuse(v.send())
	}
	f.Add(bytes.Clone(w.b))
	f.Fuzz(func(t *testing.T, b []byte) {
		out := &sink{}
		a, err := analyse(b, out)
		if err != nil && a.begin == 0 {
			return
		}
		var packets uint64
		for _, row := range out.Flows {
			packets += row.Up.Packets + row.Down.Packets
			if row.End < row.T || row.Up.Resent > row.Up.Packets || row.Down.Resent > row.Down.Packets || row.Up.WindowFull < 0 || row.Down.WindowShut < 0 {
				t.Fatalf("%+v", row)
			}
			for _, d := range []*float64{row.Handshake, row.ToClient, row.ToServer, row.Up.RTT, row.Down.MinRTT} {
				if d != nil && *d < 0 {
					t.Fatalf("a time of %g s: %+v", *d, row)
				}
			}
		}
		if packets > a.count.TCP+a.count.UDP {
			t.Fatalf("%d packets in flows of %d", packets, a.count.TCP+a.count.UDP)
		}
		for _, row := range out.Sockets {
			if i := row.TCP; i != nil && (i.BytesAcked > 1<<62 || i.RTT < 0 || i.LastAck < 0 || i.LastSnd < 0 || i.RwndLimited < 0 || row.SendQ < 0) {
				t.Fatalf("%+v", *i)
			}
		}
	})
}

// FuzzSegments plays any segments between two ends: what a capture of packets cannot
// reach by chance.
func FuzzSegments(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 18, 0, 0, 0, 16, 10, 0, 1, 24, 10, 50, 0, 4, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		w := newWire()
		c, s := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
		for n := 0; len(b) >= 8 && n < 500; n++ {
			e := c
			if b[0]&0x80 != 0 {
				e = s
			}
			w.now += int64(b[1]) * 1e6
			e.window = uint16(b[2])
			e.id += uint16(b[3]) % 3
			seq := e.seq + uint32(int8(b[4]))*100
			e.segment(b[0]&0x1f, seq, e.peer.seq+uint32(int8(b[5]))*100, int(binary.LittleEndian.Uint16(b[6:])%3000))
			e.seq = seq
			b = b[8:]
		}
		out := &sink{}
		a, err := analyse(w.b, out)
		if err != nil {
			t.Fatal(err)
		}
		var sent, resent uint64
		for _, row := range out.Flows {
			for _, o := range []recording.FlowWay{row.Up, row.Down} {
				sent += o.Packets
				resent += o.Resent
				if o.Needless > o.Resent || o.Bytes > 1<<40 || o.WindowFull < 0 || o.ShutMax < 0 {
					t.Fatalf("%+v", o)
				}
			}
		}
		if sent != a.count.TCP || resent != a.count.Resent {
			t.Fatalf("%d of %d packets, %d of %d resent", sent, a.count.TCP, resent, a.count.Resent)
		}
		for _, row := range out.Sockets {
			if i := row.TCP; i != nil && (i.BytesAcked > 1<<62 || i.RTT < 0 || i.RwndLimited < 0 || row.SendQ < 0) {
				t.Fatalf("%+v", *i)
			}
		}
	})
}

// BenchmarkRead is a second's work of a busy link: bulk in both directions.
func BenchmarkRead(b *testing.B) {
	w := newWire()
	for i := range 20 {
		c, s := connection(w, "10.0.0.7:"+string(rune('1'+i/10))+"00"+string(rune('0'+i%10)), "10.0.0.1:80")
		c.open(1)
		for range 200 {
			s.send(1448)
			s.send(1448)
			w.ms(0.2)
			c.acks()
		}
		c.segment(packet.RST, c.seq, 0, 0)
	}
	b.SetBytes(int64(len(w.b)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := analyse(w.b, &nothing{}); err != nil {
			b.Fatal(err)
		}
	}
}

type nothing struct{}

func (nothing) Sample(recording.Time, string, recording.Labels, float64) {}
func (nothing) Append(recording.Row)                                     {}
