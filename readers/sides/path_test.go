package sides

import (
	"context"
	"math"
	"testing"
	"time"
)

func captured(t *testing.T, files ...string) (all []*Capture) {
	t.Helper()
	for _, path := range files {
		c, err := Survey(context.Background(), path, len(files), nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// What both captures remember tells their clocks' difference before they are joined, and
// how far off that may be anywhere in them.
func TestClocksComparedByWhatIsRemembered(t *testing.T) {
	for i, b := range beds {
		t.Run(b.name, func(t *testing.T) {
			s, files := b.simulate(t, uint64(i+1))
			all := captured(t, files[:]...)
			both := Match(all[0], all[1])
			if both.Connections() != b.conns {
				t.Errorf("%d connections, want %d", both.Connections(), b.conns)
			}
			got := both.Clock()
			if !got.Known {
				t.Fatalf("not known: %+v", got)
			}
			for _, at := range []int64{max(s.start[0], s.start[1]), (s.start[0] + s.now) / 2, s.now} {
				truth := float64(s.clock[1].at(at)-s.clock[0].at(at)) / 1e9
				if d := math.Abs(got.Ahead - truth); d > got.Worst+1e-6 {
					t.Errorf("ahead by %.6f s, and it was %.6f at %v: off by %.6f, said to be within %.6f", got.Ahead, truth, time.Duration(at), d, got.Worst)
				}
			}
			way := (b.net[0].delay + b.net[1].delay).Seconds()
			drift := math.Abs(b.drift[1]-b.drift[0]) * float64(s.now) / 1e9
			if most := way + drift + 0.02; got.Worst > most {
				t.Errorf("known within %.6f s only, of a path of %.3f s", got.Worst, way)
			}
		})
	}
}

// Of three captures of one path each connection is joined once, between both ends, and
// the one between them is a hop.
func TestThreeCapturesOfOnePath(t *testing.T) {
	b := bed{conns: 20, ahead: 3 * time.Second, net: [2]network{{delay: 9e6, jitter: 1e6, loss: 0.004}, {delay: 9e6, jitter: 1e6}}}
	s, files := b.simulate(t, 3)
	mid := written(t, "middle.pcap", s.middle)
	for _, order := range [][]string{{files[0], mid, files[1]}, {files[1], files[0], mid}, {mid, files[1], files[0]}} {
		hops := NewPath(captured(t, order...)).Hops()
		if len(hops) != 1 || hops[0].Connections() != b.conns || len(hops[0].Between) != 1 || hops[0].Names[0] != "middle.pcap" {
			t.Fatalf("%v: %+v", order, hops)
		}
		client, server := hops[0].Ends()
		if between := hops[0].Between[0]; client != "client.pcap" || server != "server.pcap" || between.Connections() != b.conns {
			t.Errorf("from %s to %s, %d connections between", client, server, between.Connections())
		}
		if want := "client.pcap → middle.pcap → server.pcap: 20 connections, each counted once"; hops[0].Text() != want {
			t.Errorf("%s", hops[0].Text())
		}
	}
}

// A connection that only two of three captures have is joined between these two.
func TestACaptureOfAnotherPlace(t *testing.T) {
	_, files := beds[0].simulate(t, 1)
	other, _ := bed{conns: 3, net: beds[0].net}.simulate(t, 77)
	elsewhere := written(t, "elsewhere.pcap", other.taken[0])
	hops := NewPath(captured(t, files[0], elsewhere, files[1])).Hops()
	n := 0
	for _, h := range hops {
		n += h.Connections()
		if len(h.Between) > 0 {
			t.Errorf("%s", h.Text())
		}
	}
	if n != beds[0].conns {
		t.Errorf("%d connections, want %d", n, beds[0].conns)
	}
}
