package tcp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"snag/internal/packet"
)

var (
	client = netip.MustParseAddrPort("10.0.0.2:40112")
	server = netip.MustParseAddrPort("10.0.0.1:1935")
)

// tape is what a direction was told.
type tape struct {
	got    []byte // holes are zeros
	holes  []int
	why    string
	at     int64
	enough int
}

func (s *tape) Data(at int64, b []byte) bool {
	s.got, s.at = append(s.got, b...), at
	return s.enough == 0 || len(s.got) < s.enough
}

func (s *tape) Hole(at int64, n int64) bool {
	s.holes, s.at = append(s.holes, int(n)), at
	s.got = append(s.got, make([]byte, min(n, 1<<16))...)
	return true
}

func (s *tape) Closed(_ int64, why string) { s.why += why }

// wire is a connection on paper.
type wire struct {
	a     Assembler
	c, s  *tape // what the client sent, what the server sent
	flows []Flow
	now   int64
}

func newWire() *wire {
	w := new(wire)
	w.a.New = func(_ int64, f Flow) (Handler, Handler) {
		w.flows = append(w.flows, f)
		w.c, w.s = new(tape), new(tape)
		if f.Src == client {
			return w.c, w.s
		}
		return w.s, w.c
	}
	return w
}

func (w *wire) send(from netip.AddrPort, flags uint8, seq, ack uint32, data string) {
	to := server
	if from == server {
		to = client
	}
	w.now += 1e6
	w.a.Add(w.now, &packet.Packet{Src: from, Dst: to, Proto: packet.TCP, Flags: flags, Seq: seq, Ack: ack,
		Payload: []byte(data), Len: len(data)})
}

func (w *wire) open(isn uint32) {
	w.send(client, packet.SYN, isn, 0, "")
	w.send(server, packet.SYN|packet.ACK, 5000, isn+1, "")
	w.send(client, packet.ACK, isn+1, 5001, "")
}

func TestConnections(t *testing.T) {
	const A, P, F, R = packet.ACK, packet.ACK | packet.PSH, packet.FIN | packet.ACK, packet.RST
	for _, c := range []struct {
		name  string
		do    func(*wire)
		want  string // what the client sent, holes as zeros
		holes string
		why   string
	}{
		{"in order", func(w *wire) { w.open(9); w.send(client, P, 10, 5001, "ab"); w.send(client, F, 12, 5001, "c") }, "abc", "[]", "FIN"},
		{"out of order", func(w *wire) { w.open(9); w.send(client, P, 12, 1, "c"); w.send(client, P, 10, 1, "ab") }, "abc", "[]", ""},
		{"retransmitted, overlapping", func(w *wire) {
			w.open(9)
			w.send(client, P, 10, 1, "abcd")
			w.send(client, P, 10, 1, "abcd")
			w.send(client, P, 12, 1, "cdef")
			w.send(client, P, 11, 1, "bc")
		}, "abcdef", "[]", ""},
		{"over the wrap", func(w *wire) {
			w.open(0xfffffffd)
			w.send(client, P, 0xfffffffe, 1, "abcd")
			w.send(client, P, 6, 1, "gh")
			w.send(client, P, 2, 1, "cdef"[0:4])
		}, "abcdcdefgh", "[]", ""},
		{"from the middle", func(w *wire) { w.send(client, A, 77, 1, ""); w.send(client, P, 77, 1, "xy") }, "xy", "[]", ""},
		{"a keep-alive", func(w *wire) {
			w.open(9)
			w.send(client, P, 10, 1, "ab")
			w.send(client, A, 11, 1, "?")
			w.send(client, P, 12, 1, "c")
		}, "abc", "[]", ""},
		{"missed, and acknowledged", func(w *wire) {
			w.open(9)
			w.send(client, P, 10, 1, "ab")
			w.send(client, P, 15, 1, "fg")
			w.send(server, A, 5001, 17, "")
			w.now += int64(grace)
			w.send(client, P, 17, 1, "h")
		}, "ab\x00\x00\x00fgh", "[3]", ""},
		{"missed at the end", func(w *wire) {
			w.open(9)
			w.send(client, P, 10, 1, "ab")
			w.send(server, A, 5001, 14, "")
			w.now += int64(grace)
			w.send(server, A, 5001, 14, "")
		}, "ab\x00\x00", "[2]", ""},
		{"an acknowledgment that was captured early", func(w *wire) {
			w.open(9)
			w.send(server, A, 5001, 12, "")
			w.send(client, P, 10, 1, "ab")
			w.now += int64(grace)
			w.send(client, P, 12, 1, "c")
		}, "abc", "[]", ""},
		{"the FIN before its data", func(w *wire) { w.open(9); w.send(client, F, 12, 1, "c"); w.send(client, P, 10, 1, "ab") }, "abc", "[]", "FIN"},
		{"the FIN's number is not a byte", func(w *wire) {
			w.open(9)
			w.send(client, F, 12, 1, "")
			w.send(server, A, 5001, 13, "")
			w.now += int64(grace)
			w.send(server, A, 5001, 13, "")
		}, "\x00\x00", "[2]", "FIN"},
		{"two FINs that contradict each other", func(w *wire) {
			w.open(9)
			w.send(client, P, 10, 1, "ab")
			w.send(client, F, 20, 1, "xy")
			w.send(client, F, 15, 1, "")
			w.send(client, R, 12, 1, "")
		}, "ab\x00\x00\x00\x00\x00\x00\x00\x00xy", "[8]", "RST"},
		{"reset", func(w *wire) { w.open(9); w.send(client, P, 12, 1, "c"); w.send(client, R, 13, 1, "") }, "\x00\x00c", "[2]", "RST"},
		{"a reset from elsewhere", func(w *wire) { w.open(9); w.send(client, R, 0x80000000, 1, ""); w.send(client, P, 10, 1, "ab") }, "ab", "[]", ""},
		{"data with the SYN", func(w *wire) { w.send(client, packet.SYN, 9, 0, "ab"); w.send(client, P, 12, 1, "c") }, "abc", "[]", ""},
		{"a SYN twice", func(w *wire) { w.open(9); w.send(client, P, 10, 1, "ab"); w.send(client, packet.SYN, 9, 0, "") }, "ab", "[]", ""},
		{"gigabytes missed", func(w *wire) {
			w.open(9)
			w.send(client, P, 10, 1, "ab")
			w.send(client, P, 0xc0000000, 1, "xx")
			w.send(client, P, 0xc0000002, 1, "cd")
		}, "abcd", "[0]", ""},
		{"one way only", func(w *wire) {
			w.send(client, P, 10, 1, "ab")
			w.send(client, P, 20, 1, "cd")
			w.now += int64(oneWay)
			w.send(client, P, 22, 1, "ef")
		}, "ab" + string(make([]byte, 8)) + "cdef", "[8]", ""},
		{"both ways: what nobody acknowledged is waited for", func(w *wire) {
			w.open(9)
			w.send(client, P, 10, 1, "ab")
			w.send(client, P, 14, 1, "ef")
			w.now += 3 * int64(oneWay)
			w.send(client, P, 12, 1, "cd")
		}, "abcdef", "[]", ""},
		{"silence", func(w *wire) {
			w.open(9)
			w.send(client, P, 10, 1, "ab")
			w.a.Expire(w.now + int64(idle) + 1)
		}, "ab", "[]", "silence"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire()
			c.do(w)
			if string(w.c.got) != c.want || fmt.Sprint(w.c.holes) != c.holes || w.c.why != c.why {
				t.Errorf("got %q, holes %v, closed %q", w.c.got, w.c.holes, w.c.why)
			}
			if len(w.flows) != 1 {
				t.Errorf("%d connections", len(w.flows))
			}
			w.a.Close(w.now)
			if w.a.held != 0 {
				t.Errorf("%d bytes are still held", w.a.held)
			}
		})
	}
}

func TestPortsUsedAgain(t *testing.T) {
	w := newWire()
	w.open(9)
	first := w.c
	w.send(client, packet.ACK, 10, 1, "ab")
	w.open(100000)
	w.send(client, packet.ACK, 100001, 1, "cd")
	if first.why != "reused" || string(w.c.got) != "cd" || len(w.flows) != 2 {
		t.Errorf("closed %q, got %q, %d connections", first.why, w.c.got, len(w.flows))
	}
	if f := w.flows[1]; !f.Known || !f.Client || !f.Start || f.Src != client {
		t.Errorf("flow %+v", f)
	}
}

func TestCutByTheSnapLength(t *testing.T) {
	w := newWire()
	w.open(9)
	w.a.Add(w.now, &packet.Packet{Src: client, Dst: server, Proto: packet.TCP, Flags: packet.ACK, Seq: 10, Payload: []byte("abc"), Len: 1000})
	w.send(client, packet.ACK, 1010, 1, "d")
	if len(w.c.got) != 1001 || fmt.Sprint(w.c.holes) != "[997]" || w.a.Stats.Lost != 997 {
		t.Errorf("%d bytes, holes %v", len(w.c.got), w.c.holes)
	}
}

func TestHeldIsBounded(t *testing.T) {
	w := newWire()
	w.open(9)
	for i := range 2000 {
		w.send(client, packet.ACK, 11+uint32(i)*1000, 1, string(make([]byte, 1000)))
		if w.a.held > MaxHeld {
			t.Fatalf("%d bytes are held", w.a.held)
		}
	}
	if len(w.c.holes) != 1 || w.c.holes[0] != 1 {
		t.Errorf("holes %v", w.c.holes)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	var a Assembler
	closed := new(tape)
	a.New = func(int64, Flow) (Handler, Handler) { return closed, nil }
	for i := range MaxConns + 10 {
		src := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), 1000)
		a.Add(int64(i), &packet.Packet{Src: src, Dst: server, Proto: packet.TCP, Flags: packet.SYN})
	}
	if len(a.conns) != MaxConns || a.Stats.Forgotten != 10 {
		t.Errorf("%d connections, %d forgotten", len(a.conns), a.Stats.Forgotten)
	}
}

// Whatever the network and the capture do, what is handed on is what was sent, byte
// by byte, but for holes, which are as long as what is missing.
func TestAnyOrder(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		sent := make([]byte, 20000+r.IntN(50000))
		for i := range sent {
			sent[i] = byte(1 + r.IntN(255))
		}
		type seg struct{ from, to int }
		var segs []seg
		for at := 0; at < len(sent); {
			n := min(1+r.IntN(3000), len(sent)-at)
			s := seg{max(at-r.IntN(50), 0), at + n}
			if r.IntN(100) >= int(seed%4)*3 {
				segs = append(segs, s)
			}
			if r.IntN(20) == 0 {
				segs = append(segs, s)
			}
			at += n
		}
		for i := range segs {
			if j := i + r.IntN(4); r.IntN(5) == 0 && j < len(segs) {
				segs[i], segs[j] = segs[j], segs[i]
			}
		}
		w := newWire()
		isn := r.Uint32()
		w.open(isn)
		for _, s := range segs {
			w.send(client, packet.ACK, isn+1+uint32(s.from), 1, string(sent[s.from:s.to]))
			if r.IntN(3) == 0 {
				w.now += int64(grace) / 4
				w.send(server, packet.ACK, 5001, isn+1+uint32(max(s.from-10000, 0)), "")
			}
		}
		w.send(client, packet.FIN|packet.ACK, isn+1+uint32(len(sent)), 1, "")
		w.a.Close(w.now)
		got := w.c.got
		if len(got) > len(sent) {
			t.Fatalf("seed %d: %d bytes of %d", seed, len(got), len(sent))
		}
		for i := range got {
			if got[i] != 0 && got[i] != sent[i] {
				t.Fatalf("seed %d: byte %d is %d, was sent as %d", seed, i, got[i], sent[i])
			}
		}
		if seed%4 == 0 && !bytes.Equal(got, sent) {
			t.Fatalf("seed %d: nothing was lost, and %d bytes of %d came, holes %v", seed, len(got), len(sent), w.c.holes)
		}
		if w.a.held != 0 {
			t.Fatalf("seed %d: %d bytes are still held", seed, w.a.held)
		}
	}
}

func FuzzAssembler(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 0, 16, 0, 1, 5, 0, 16, 0, 9, 3, 1, 1, 0, 1, 0, 0})
	f.Add([]byte{16, 0xff, 0xff, 4, 0, 16, 0, 3, 200, 1, 4, 0, 9, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		w := newWire()
		for ; len(b) >= 5; b = b[5:] {
			from := client
			if b[4]&1 != 0 {
				from = server
			}
			seq := uint32(b[1])<<24 | uint32(b[2])
			w.send(from, b[0]&0x1f, seq, uint32(b[4])<<24|uint32(b[3]), string(make([]byte, int(b[3])*4)))
			w.now += int64(b[4]) * 1e7
			if w.a.held < 0 || w.a.held > MaxHeldAll {
				t.Fatalf("%d bytes are held", w.a.held)
			}
		}
		w.a.Close(w.now)
		if w.a.held != 0 {
			t.Fatalf("%d bytes are still held", w.a.held)
		}
	})
}
