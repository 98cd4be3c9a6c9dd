package sides

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"snag/recording"
)

// rows is a sink that keeps what it is given.
type rows struct{ recording.Recording }

func (r *rows) Sample(recording.Time, string, recording.Labels, float64) {}
func (r *rows) Append(row recording.Row)                                 { r.Add(row) }

// bed is one set of simulated connections between two hosts.
type bed struct {
	name         string
	conns        int
	ahead        time.Duration
	drift        [2]float64
	net          [2]network
	nat, rewrite bool
	offload      bool
	http         bool
	snap         [2]int
	late         [2]time.Duration // a capture begins late
	swap         bool             // the server's file is given first
	healthy      bool             // nothing stalls
}

var beds = []bed{
	{name: "a quiet LAN", conns: 40, net: [2]network{{delay: 100e3}, {delay: 100e3}}},
	{name: "offloads and HTTP, clocks apart", conns: 40, ahead: 3 * time.Second, drift: [2]float64{0, 200e-6}, offload: true, http: true,
		net: [2]network{{delay: 2e6, jitter: 1e6}, {delay: 5e6, jitter: 2e6}}},
	{name: "loss and reordering, behind", conns: 40, ahead: -70 * time.Second, drift: [2]float64{-100e-6, 100e-6},
		net: [2]network{{delay: 10e6, jitter: 5e6, loss: 0.01, reorder: 0.02}, {delay: 10e6, jitter: 8e6, loss: 0.01, reorder: 0.02}}},
	{name: "NAT", conns: 30, ahead: 10 * time.Millisecond, nat: true, offload: true, swap: true,
		net: [2]network{{delay: 20e6, jitter: 1e6}, {delay: 3e6, jitter: 1e6, loss: 0.005}}},
	{name: "NAT and other numbers, short snap", conns: 30, ahead: -time.Hour, drift: [2]float64{50e-6, -120e-6}, nat: true, rewrite: true, http: true,
		snap: [2]int{96, 0}, net: [2]network{{delay: 1e6, jitter: 200e3}, {delay: 1e6, jitter: 200e3}}},
	{name: "captures that begin late", conns: 40, ahead: 250 * time.Millisecond, late: [2]time.Duration{2 * time.Second, 3 * time.Second},
		net: [2]network{{delay: 4e6, jitter: 1e6}, {delay: 4e6, jitter: 1e6, loss: 0.003}}},
	{name: "NAT, other numbers, begins late", conns: 20, ahead: 5 * time.Second, late: [2]time.Duration{3 * time.Second, 2 * time.Second}, nat: true, rewrite: true, offload: true,
		net: [2]network{{delay: 3e6, jitter: 1e6}, {delay: 3e6, jitter: 1e6}}},
}

// simulate runs a bed and writes its two captures, the client's first.
func (b bed) simulate(t testing.TB, seed uint64) (*sim, [2]string) {
	rnd := rand.New(rand.NewPCG(seed, 7))
	s := &sim{rnd: rnd, clock: [2]wallClock{{0, b.drift[0]}, {b.ahead, b.drift[1]}}, snap: b.snap,
		start: [2]int64{int64(b.late[0]), int64(b.late[1])}}
	for i := range b.conns {
		c := &simConn{
			s: s, client: netip.MustParseAddrPort(fmt.Sprintf("10.0.0.1:%d", 33000+i)), server: netip.MustParseAddrPort("10.0.1.1:80"),
			isn: [2]uint32{rnd.Uint32(), rnd.Uint32()}, stampOff: [2]uint32{rnd.Uint32(), rnd.Uint32()}, tso: b.offload, gro: b.offload,
		}
		c.outside = c.client
		if b.nat {
			c.outside = netip.MustParseAddrPort(fmt.Sprintf("203.0.113.9:%d", 50000-3*i))
		}
		if b.rewrite {
			c.shift = [2]uint32{rnd.Uint32(), rnd.Uint32()}
		}
		for dir := range c.net {
			n := b.net[dir]
			c.net[dir] = &n
		}
		for k := range 12 {
			a := &ask{after: time.Duration(rnd.IntN(800)) * time.Millisecond, bytes: 60 + rnd.IntN(600), answer: 300 + rnd.IntN(20000), delay: time.Duration(100+rnd.IntN(5000)) * time.Microsecond}
			if k%4 == 3 {
				a.bytes = 5000 + rnd.IntN(20000)
			}
			if b.http {
				a.head = fmt.Sprintf("GET /item/%d?secret=1 HTTP/1.1\r\nHost: x\r\n\r\n", k)
				a.bytes = max(a.bytes, len(a.head))
				a.answer = max(a.answer, 3000)
			}
			if k == 5+i%5 && !b.healthy {
				a.delay = time.Duration(400+rnd.IntN(1500)) * time.Millisecond
				a.kind = []string{"server", "out", "back", "server"}[i%4]
				if i%8 == 7 && b.http && b.snap[1] == 0 { // in the middle of the answer
					a.inAnswer, a.delay = a.delay, time.Millisecond
				}
			}
			c.asks = append(c.asks, a)
		}
		s.conns = append(s.conns, c)
		s.in(int64(rnd.IntN(3000))*1e6, c.open)
	}
	s.run()
	return s, [2]string{written(t, "client.pcap", s.taken[0]), written(t, "server.pcap", s.taken[1])}
}

func TestSimulatedConnections(t *testing.T) {
	connections, stalls := 0, 0
	var off []float64
	for i, b := range beds {
		t.Run(b.name, func(t *testing.T) {
			s, files := b.simulate(t, uint64(i+1))
			if b.swap {
				files[0], files[1] = files[1], files[0]
			}
			var got rows
			res, err := Join(context.Background(), files, nil, &got)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", res)
			if res.Connections != b.conns {
				t.Errorf("%d of %d connections were found on both", res.Connections, b.conns)
			}
			byClient := map[string][]recording.Request{}
			for _, r := range got.Requests {
				byClient[r.Client] = append(byClient[r.Client], r)
			}
			found := 0
			for _, c := range s.conns {
				connections++
				for _, a := range c.asks {
					r, ok := rowOf(byClient[c.client.String()], s, a)
					if !ok {
						if a.kind != "" && s.covered(a) {
							t.Errorf("%v: a stall (%s, %v) has no row", c.client, a.kind, a.delay+a.inAnswer)
						}
						continue
					}
					found++
					e := math.Abs(r.AtServer-r.Stood-s.atServer(a)) * 1e6
					off = append(off, e)
					if e > 1000 {
						t.Logf("%v: at the server %.6f s, and it was %.6f: %+v", c.client, r.AtServer, s.atServer(a), r)
					}
					if a.kind != "" {
						stalls++
						rightSide(t, a, r)
					}
					withinBound(t, a, r)
				}
			}
			if found < b.conns*3 {
				t.Errorf("only %d requests of %d connections have a row", found, b.conns)
			}
		})
	}
	slices.Sort(off)
	p99 := off[len(off)*99/100]
	t.Logf("%d connections, %d stalls; time at the server off by: median %.3f µs, p99 %.3f µs, most %.3f µs (of %d)", connections, stalls, off[len(off)/2], p99, off[len(off)-1], len(off))
	if p99 > 10 || connections < 200 {
		t.Errorf("%d connections, p99 %.3f µs", connections, p99)
	}
}

// atServer is what the server's clock measured of an ask.
func (s *sim) atServer(a *ask) float64 {
	return float64(s.clock[1].at(a.firstLeft)-s.clock[1].at(a.lastCame)) / 1e9
}

// covered: both captures saw all of it, and the answers before.
func (s *sim) covered(a *ask) bool {
	return a.firstCame != 0 && a.lastSent-2e9 > max(s.start[0], s.start[1])
}

// rowOf finds an ask's row by when it came to the client.
func rowOf(all []recording.Request, s *sim, a *ask) (recording.Request, bool) {
	if a.firstCame == 0 {
		return recording.Request{}, false
	}
	for _, r := range all {
		if r.Name != "connect" && math.Abs(float64(int64(r.T)-s.clock[0].at(a.lastSent)))/1e9 < 1e-6 {
			return r, true
		}
	}
	return recording.Request{}, false
}

func rightSide(t *testing.T, a *ask, r recording.Request) {
	t.Helper()
	stall := max(a.delay, a.inAnswer).Seconds()
	switch a.kind {
	case "server":
		if r.AtServer < 0.99*stall || r.Network > 0.5*stall && r.LostOut+r.LostBack == 0 {
			t.Errorf("a stall of %.3f s at the server: %+v", stall, r)
		}
	case "out", "back":
		if r.AtServer > 0.1 || r.Network < 0.19 || r.Out == nil {
			t.Errorf("a stall of %.3f s on the way %s: %+v", stall, a.kind, r)
			return
		}
		mine, other := *r.Out, *r.Back
		lostMine, lostOther := r.LostOut, r.LostBack
		if a.kind == "back" {
			mine, other, lostMine, lostOther = other, mine, lostOther, lostMine
		}
		if mine-r.Bound <= other+r.Bound || lostMine == 0 || lostOther > lostMine {
			t.Errorf("a stall of %.3f s on the way %s: out %.4f s, back %.4f s, ± %.4f: %+v", stall, a.kind, *r.Out, *r.Back, r.Bound, r)
		}
	}
}

// withinBound holds the ways against the truth.
func withinBound(t *testing.T, a *ask, r recording.Request) {
	t.Helper()
	if r.Out == nil || r.Stood > 0 || a.inAnswer > 0 {
		return
	}
	out, back := float64(a.lastCame-a.lastSent)/1e9, float64(a.firstCame-a.firstLeft)/1e9
	if a.kind != "" || r.LostOut+r.LostBack > 0 { // the way of the first byte only, not of the bytes behind it
		return
	}
	// A clock that runs 200 ppm off measures a way of 0.1 s by 20 µs too long.
	slack := 5e-6 + 4e-4*(out+back)
	if math.Abs(*r.Out-out) > r.Bound+slack && a.bytes < simMSS || math.Abs(*r.Back-back) > r.Bound+slack {
		t.Errorf("out %.6f s, and it was %.6f; back %.6f, and it was %.6f; said to be within %.6f: %+v", *r.Out, out, *r.Back, back, r.Bound, r)
	}
}

// BenchmarkJoin gives bytes of both files together.
func BenchmarkJoin(b *testing.B) {
	_, files := beds[0].simulate(b, 1)
	var size int64
	for _, f := range files {
		if st, err := os.Stat(f); err == nil {
			size += st.Size()
		}
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		var got rows
		if _, err := Join(context.Background(), files, nil, &got); err != nil {
			b.Fatal(err)
		}
	}
}
