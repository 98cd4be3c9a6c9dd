package sides

import (
	"context"
	"math"
	"net/netip"
	"strings"
	"testing"

	"snag/internal/packet"
	"snag/recording"
)

// wire writes one connection as two captures have it; times are milliseconds, way
// out 10 ms and back 20 ms where nothing else is said. The clocks are the same.
type wire struct {
	taken [2][]byte
	seq   [2]uint32
	now   float64
	skip  [2]bool // the capture misses what comes
	shut  [2]bool // this direction's sender announces no room
}

const (
	wayOut  = 10.0
	wayBack = 20.0
)

func (w *wire) put(at int, ms float64, dir int, seq, ack uint32, flags uint8, n int, data string) {
	if w.skip[at] {
		return
	}
	src, dst := netip.MustParseAddrPort("10.0.0.1:33000"), netip.MustParseAddrPort("10.0.1.1:80")
	if dir == answer {
		src, dst = dst, src
	}
	from := len(w.taken[at])
	w.taken[at] = appendPacket(w.taken[at], simEpoch+int64(ms*1e6), src, dst, seq, ack, flags, flags&packet.SYN != 0, uint32(ms), 0, n, []byte(data), 0)
	if w.shut[dir] {
		copy(w.taken[at][from+16+20+14:], []byte{0, 0})
	}
}

// pass sends a segment: it leaves now and comes a way later.
func (w *wire) pass(dir int, n int, data string, flags uint8) {
	from, to, way := 0, 1, wayOut
	if dir == answer {
		from, to, way = 1, 0, wayBack
	}
	ack := w.seq[1-dir]
	w.put(from, w.now, dir, w.seq[dir], ack, flags, n, data)
	w.put(to, w.now+way, dir, w.seq[dir], ack, flags, n, data)
	w.seq[dir] += uint32(n)
	if flags&(packet.SYN|packet.FIN) != 0 {
		w.seq[dir]++
	}
}

func (w *wire) request(data string) {
	w.pass(request, len(data), data, packet.ACK|packet.PSH)
	w.now += wayOut
}

func (w *wire) answer(data string) {
	w.pass(answer, len(data), data, packet.ACK|packet.PSH)
	w.now += wayBack
	w.pass(request, 0, "", packet.ACK)
}

func opened() *wire {
	w := &wire{seq: [2]uint32{1000, 0xffffff00}} // the answer's numbers wrap
	w.pass(request, 0, "", packet.SYN)
	w.now += wayOut
	w.pass(answer, 0, "", packet.SYN|packet.ACK)
	w.now += wayBack
	w.pass(request, 0, "", packet.ACK)
	w.now++
	return w
}

func (w *wire) read(t *testing.T) (Result, []recording.Request) {
	t.Helper()
	var got rows
	res, err := Join(context.Background(), [2]string{written(t, "c", w.taken[0]), written(t, "s", w.taken[1])}, nil, &got)
	if err != nil {
		t.Fatal(err)
	}
	var out []recording.Request
	for _, r := range got.Requests {
		if r.Name != "connect" {
			out = append(out, r)
		}
	}
	return res, out
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

func TestOneRequest(t *testing.T) {
	w := opened()
	w.request("GET /a?token=x HTTP/1.1\r\nHost: h\r\n\r\n")
	w.now += 4000
	w.answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	res, got := w.read(t)
	if len(got) != 1 || res.Requests != 1 || res.Torn+res.Alone != 0 || res.Sides != [2]int{1, 0} {
		t.Fatalf("%+v %+v", res, got)
	}
	r := got[0]
	if r.Name != "GET /a" || !near(r.Wait, 4.03) || !near(r.AtServer, 4) || !near(r.Network, 0.03) || r.BytesOut != 36 || r.N != 1 || r.Parts != 1 {
		t.Errorf("%+v", r)
	}
	if math.Abs(*r.Out-0.010) > r.Bound || math.Abs(*r.Back-0.020) > r.Bound || r.Bound > 0.0175 || !near(*r.Out+*r.Back, 0.03) {
		t.Errorf("out %v, back %v, ± %v", *r.Out, *r.Back, r.Bound)
	}
}

func TestServerSpeaksFirst(t *testing.T) {
	w := opened()
	w.now += wayOut + 500
	w.answer("220 mail\r\n")
	w.request("EHLO x\r\n")
	w.now += 7
	w.answer("250 ok\r\n")
	_, got := w.read(t)
	if len(got) != 2 || got[0].Name != "greeting" || !near(got[1].AtServer, 0.007) {
		t.Fatalf("%+v", got)
	}
	// 1 ms passed after the handshake's last ACK had left.
	if !near(got[0].AtServer, 0.501) {
		t.Errorf("the greeting took %v at the server", got[0].AtServer)
	}
}

func TestPipelined(t *testing.T) {
	w := opened()
	a := "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"
	w.request(a + a)
	w.now += 95
	w.put(0, w.now, request, w.seq[request], w.seq[answer], packet.ACK, len(a), a) // the third, before the first answer came
	third := w.seq[answer]
	w.now += 5
	w.pass(answer, 6, "answer", packet.ACK)
	w.put(1, w.now+5, request, w.seq[request], third, packet.ACK, len(a), a)
	w.seq[request] += uint32(len(a))
	w.now += 1005
	w.answer("and the other two")
	res, got := w.read(t)
	if len(got) != 1 || got[0].N != 3 || res.Overlapping != 1 {
		t.Fatalf("%+v\n%+v", res, got)
	}
	if r := got[0]; !near(r.AtServer, 1.1) || r.Out != nil || r.Parts != 2 {
		t.Errorf("%+v", r)
	}
}

// What one capture lacks is told, and never guessed.
func TestCaptureMissesPackets(t *testing.T) {
	for name, lacks := range map[string]struct{ file, what int }{"request at the server": {1, 0}, "answer at the server": {1, 1}, "request at the client": {0, 0}, "answer at the client": {0, 1}} {
		t.Run(name, func(t *testing.T) {
			w := opened()
			for k := range 3 {
				w.skip[lacks.file] = k == 1 && lacks.what == 0
				w.request("request")
				w.skip[lacks.file] = false
				w.now += 50
				w.skip[lacks.file] = k == 1 && lacks.what == 1
				w.pass(answer, 6, "answer", packet.ACK)
				w.skip[lacks.file] = false
				w.now += wayBack
				w.pass(request, 0, "", packet.ACK)
				w.now += 300
			}
			res, got := w.read(t)
			if res.Torn == 0 {
				t.Errorf("nothing is told: %+v", res)
			}
			for _, r := range got {
				if !near(r.AtServer, 0.05) || !near(r.Wait, 0.08) {
					t.Errorf("%+v", r)
				}
			}
			if len(got) == 0 || len(got) > 2 {
				t.Errorf("%d requests", len(got))
			}
		})
	}
}

func TestUnanswered(t *testing.T) {
	for name, end := range map[string]uint8{"open": 0, "closed": packet.FIN | packet.ACK, "reset": packet.RST} {
		w := opened()
		w.request("a")
		w.answer("b")
		w.now += 10
		w.request("where are you?")
		w.now += 5000
		if end != 0 {
			w.pass(request, 0, "", end)
		} else { // another connection's, so that the captures go on
			for at := range 2 {
				w.taken[at] = appendPacket(w.taken[at], simEpoch+int64(w.now*1e6), netip.MustParseAddrPort("10.9.9.9:1"), netip.MustParseAddrPort("10.9.9.8:2"), 1, 1, packet.ACK, false, 1, 1, 1, nil, 0)
			}
		}
		_, got := w.read(t)
		if len(got) != 2 || got[1].Unanswered != name || got[1].AtServer < 4.9 || got[1].Network > 0.1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A request that was lost on its way and given up was not the server's.
func TestNeverCame(t *testing.T) {
	w := opened()
	w.request("a")
	w.answer("b")
	w.now += 10
	w.skip[1] = true
	for range 5 {
		w.pass(request, 4, "lost", packet.ACK)
		w.seq[request] -= 4
		w.now += 500
	}
	w.seq[request] += 4
	w.pass(request, 0, "", packet.RST)
	w.skip[1] = false
	w.now += 5000
	w.put(1, w.now, answer, w.seq[answer], 1002, packet.RST, 0, "")
	_, got := w.read(t)
	if len(got) == 0 {
		t.Fatal("the answered request is not there")
	}
	for _, r := range got[1:] {
		if r.AtServer > 0.001 {
			t.Errorf("the server had it: %+v", r)
		}
	}
}

// A server that pauses inside an answer has it, where the head says that more is due;
// news that nobody asked for are nobody's delay.
func TestPauses(t *testing.T) {
	for _, head := range []string{"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n", ""} {
		w := opened()
		w.request("GET / HTTP/1.1\r\n\r\n")
		w.now += 5
		w.answer(head + "half")
		w.now += wayOut + 3000
		w.answer("rest")
		w.now += 10
		w.request("next")
		w.now += 5
		w.answer("x")
		_, got := w.read(t)
		if len(got) != 2 {
			t.Fatalf("%q: %+v", head, got)
		}
		if want := map[bool]float64{true: 3.005, false: 0.005}[head != ""]; !near(got[0].AtServer, want) {
			t.Errorf("%q: %v at the server, want %v: %+v", head, got[0].AtServer, want, got[0])
		}
	}
}

// A client whose window has no room lets the time pass itself.
func TestClientTakesNothing(t *testing.T) {
	w := opened()
	w.request("GET / HTTP/1.1\r\n\r\n")
	w.now += 5
	w.pass(answer, 60, "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n", packet.ACK)
	w.now += wayBack
	w.shut[request] = true
	w.pass(request, 0, "", packet.ACK)
	w.now += 2500
	w.shut[request] = false
	w.pass(request, 0, "", packet.ACK)
	w.now += wayOut + 1
	w.answer(strings.Repeat("x", 1200))
	w.now += 10
	w.request("next")
	w.now += 5
	w.answer("x")
	_, got := w.read(t)
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	if r := got[0]; !near(r.Paused, 2.5) || r.AtServer > 0.01 || r.Wait > 0.1 || r.Download < 2.5 {
		t.Errorf("%+v", r)
	}
}

// A server that takes nothing more of an upload has it.
func TestServerTakesNothing(t *testing.T) {
	w := opened()
	w.pass(request, 1000, "POST / HTTP/1.1\r\nContent-Length: 1900\r\n\r\n", packet.ACK)
	w.now += wayOut
	w.shut[answer] = true
	w.pass(answer, 0, "", packet.ACK)
	w.now += 1500
	w.shut[answer] = false
	w.pass(answer, 0, "", packet.ACK)
	w.now += wayBack + 1
	w.pass(request, 940, "", packet.ACK)
	w.now += wayOut + 3
	w.answer("HTTP/1.1 204 No Content\r\n\r\n")
	_, got := w.read(t)
	if len(got) != 1 || !near(got[0].AtServer, 1.503) || got[0].Network > 0.07 || got[0].Paused > 0.1 {
		t.Fatalf("%+v", got)
	}
}

func TestRequestNames(t *testing.T) {
	long := strings.Repeat("x", 200)
	for in, want := range map[string]string{
		"GET / HTTP/1.1\r\n\r\n":                        "GET /",
		"POST /a/b?password=1 HTTP/1.0\r\nX: y\r\n\r\n": "POST /a/b",
		"GET /" + long + " HTTP/1.1\r\n\r\n":            "GET /" + long[:longestName-1] + "…",
		"GET /cut":                                      "GET /cut…",
		"GET /\x1b[31m HTTP/1.1\r\n\r\n":                "GET /?[31m",
		"GET me a beer\r\n":                             "",
		"\x16\x03\x01":                                  "",
		"":                                              "",
	} {
		if got, _ := requestName([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	a := "GET /1 HTTP/1.1\r\n\r\n"
	if _, n := requestName([]byte(a + a + a[:8])); n != 3 {
		t.Errorf("%d requests of 3", n)
	}
}
