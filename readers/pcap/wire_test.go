package pcap

import (
	"bytes"
	"context"
	"encoding/binary"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"snag/internal/packet"
	"snag/readers/reader"
	"snag/recording"
)

type sink struct{ recording.Recording }

func (s *sink) Sample(recording.Time, string, recording.Labels, float64) {}
func (s *sink) Append(row recording.Row)                                 { s.Add(row) }

// wire writes a capture by hand.
type wire struct {
	b   []byte
	now int64 // ns after the capture began
	// last is the last packet, and how long it was on the wire.
	last     []byte
	lastWire int
}

// routed captures the last packet once more, behind so many routers.
func (w *wire) routed(hops byte) {
	again := bytes.Clone(w.last)
	again[8] -= hops
	w.frame(again, w.lastWire)
}

const epoch = int64(1_700_000_000e9)

func newWire() *wire {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 0xa1b23c4d)
	b = le.AppendUint32(b, 2|4<<16)
	for _, v := range []uint32{0, 0, 65535, 101} { // raw IP
		b = le.AppendUint32(b, v)
	}
	return &wire{b: b}
}

// ms lets time pass.
func (w *wire) ms(ms float64) { w.now += int64(ms * 1e6) }

func (w *wire) frame(data []byte, wire int) {
	le := binary.LittleEndian
	at := epoch + w.now
	for _, v := range []uint32{uint32(at / 1e9), uint32(at % 1e9), uint32(len(data)), uint32(wire)} {
		w.b = le.AppendUint32(w.b, v)
	}
	w.b = append(w.b, data...)
	w.last, w.lastWire = bytes.Clone(data), wire
}

// end is one end of a TCP connection, as a program of a test plays it.
type end struct {
	w        *wire
	addr     netip.AddrPort
	peer     *end
	seq, ack uint32
	id       uint16
	window   uint16
	mss      uint16
	scale    uint8
	stamps   bool
	noSACK   bool
	stamp    uint32 // added to the clock, so that a copy may have an old one
	sack     [][2]uint32
	heard    uint32
	data     []byte // of the next segment; nil: cut off by the snap length
}

// connection is two ends that know of each other.
func connection(w *wire, client, server string) (c, s *end) {
	c = &end{w: w, addr: netip.MustParseAddrPort(client), seq: 1000, id: 100, window: 502, mss: 1460, scale: 7, stamps: true}
	s = &end{w: w, addr: netip.MustParseAddrPort(server), seq: 9000, id: 7000, window: 502, mss: 1460, scale: 7, stamps: true}
	c.peer, s.peer = s, c
	return c, s
}

// segment writes a TCP segment with n bytes of payload.
func (e *end) segment(flags uint8, seq, ack uint32, n int) {
	var opt []byte
	be := binary.BigEndian
	if flags&packet.SYN != 0 {
		opt = append(opt, 2, 4, byte(e.mss>>8), byte(e.mss), 3, 3, e.scale, 1)
		if !e.noSACK {
			opt = append(opt, 4, 2)
		}
	}
	if e.stamps {
		opt = append(opt, 8, 10)
		opt = be.AppendUint32(opt, uint32(e.w.now/1e6)+e.stamp+1)
		opt = be.AppendUint32(opt, e.heard)
		e.peer.heard = uint32(e.w.now/1e6) + e.stamp + 1
	}
	if len(e.sack) > 0 {
		opt = append(opt, 5, byte(2+8*len(e.sack)))
		for _, b := range e.sack {
			opt = be.AppendUint32(be.AppendUint32(opt, b[0]), b[1])
		}
	}
	for len(opt)%4 != 0 {
		opt = append(opt, 1)
	}
	e.id++
	total := 40 + len(opt) + n
	h := []byte{0x45, 0, byte(total >> 8), byte(total), byte(e.id >> 8), byte(e.id), 0x40, 0, 64, packet.TCP, 0, 0}
	src, dst := e.addr.Addr().As4(), e.peer.addr.Addr().As4()
	h = append(append(h, src[:]...), dst[:]...)
	h = be.AppendUint16(be.AppendUint16(h, e.addr.Port()), e.peer.addr.Port())
	h = be.AppendUint32(be.AppendUint32(h, seq), ack)
	h = append(h, byte(5+len(opt)/4)<<4, flags)
	h = be.AppendUint16(h, e.window)
	h = append(append(h, 0, 0, 0, 0), opt...)
	e.w.frame(append(h, e.data...), total) // mostly the payload is cut off: nothing needs it
	e.data = nil
}

// says sends bytes, in segments of that size at most.
func (e *end) says(b []byte, size int) {
	for len(b) > 0 {
		n := min(size, len(b))
		e.data = b[:n]
		e.send(n)
		b = b[n:]
		e.w.ms(0.2)
	}
}

// open plays the handshake over a way of rtt ms that the capture sees at the client.
func (e *end) open(rtt float64) {
	e.segment(packet.SYN, e.seq, 0, 0)
	e.w.ms(rtt)
	e.peer.segment(packet.SYN|packet.ACK, e.peer.seq, e.seq+1, 0)
	e.w.ms(0.05)
	e.seq, e.peer.seq = e.seq+1, e.peer.seq+1
	e.ack, e.peer.ack = e.peer.seq, e.seq
	e.segment(packet.ACK, e.seq, e.ack, 0)
}

// send sends data that is new.
func (e *end) send(n int) {
	e.segment(packet.ACK|packet.PSH, e.seq, e.ack, n)
	e.seq += uint32(n)
}

// acks acknowledges all that the peer sent.
func (e *end) acks() {
	e.ack = e.peer.seq
	e.segment(packet.ACK, e.seq, e.ack, 0)
}

// close plays both FINs.
func (e *end) close() {
	e.segment(packet.FIN|packet.ACK, e.seq, e.ack, 0)
	e.seq++
	e.w.ms(1)
	e.peer.ack = e.seq
	e.peer.segment(packet.FIN|packet.ACK, e.peer.seq, e.peer.ack, 0)
	e.peer.seq++
	e.w.ms(1)
	e.acks()
}

// read reads a capture through the file that it would be.
func (w *wire) read(t testing.TB) (*recording.Recording, reader.Told) {
	t.Helper()
	r, told, err := readBytes(t, w.b)
	if err != nil {
		t.Fatal(err)
	}
	return r, told
}

func readBytes(t testing.TB, b []byte) (*recording.Recording, reader.Told, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "w.pcap")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := reader.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if !Format.Sniff(in.Head()) {
		t.Fatal("it is not known by its beginning")
	}
	out := &sink{}
	told, err := Format.Read(context.Background(), in, reader.Options{}, out)
	for _, c := range told.Coverage {
		out.Append(c)
	}
	return &out.Recording, told, err
}

// one is the only flow of a recording.
func one(t testing.TB, r *recording.Recording) recording.Flow {
	t.Helper()
	if len(r.Flows) != 1 {
		t.Fatalf("%d flows: %+v", len(r.Flows), r.Flows)
	}
	return r.Flows[0]
}

func TestTheWireItself(t *testing.T) {
	w := newWire()
	c, _ := connection(w, "10.0.0.7:40112", "10.0.0.1:80")
	c.open(20)
	if !bytes.Contains(w.b, []byte{0x45, 0}) {
		t.Fatal("no IP packet was written")
	}
	r, told := w.read(t)
	if told.Lines != 3 || told.First != recording.Time(epoch) || len(r.Flows) != 1 {
		t.Errorf("%+v", told)
	}
}
