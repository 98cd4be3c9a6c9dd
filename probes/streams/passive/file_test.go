package passive

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"snag/internal/packet"
	"snag/probes/streams/passive/capture"
	"snag/probes/streams/stream"
)

const fixture = "testdata/nginx.pcap" // made by TestLive with -update

// packets loads the fixture, in memory of its own.
func packets(t testing.TB) (out []capture.Packet) {
	t.Helper()
	err := capture.ReadFile(fixture, func(p *capture.Packet) {
		q := *p
		q.Data = slices.Clone(p.Data)
		out = append(out, q)
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func wanted(t *testing.T) []stream.Frame {
	t.Helper()
	text, err := os.ReadFile("testdata/nginx.packets")
	if err != nil {
		t.Fatal(err)
	}
	return probed(t, string(text))
}

func judge(all []capture.Packet) *streams {
	got := new(streams)
	w := newWatcher(Options{}, got.begin)
	w.all = true
	for i := range all {
		w.packet(&all[i])
	}
	w.tcp.Close(w.last)
	return got
}

// serverPort is where the fixture's nginx listened: whom the first SYN went to.
func serverPort(t testing.TB, all []capture.Packet) uint16 {
	for i := range all {
		var p packet.Packet
		if packet.Decode(all[i].Proto, all[i].Data, all[i].Wire, &p) && p.Flags == packet.SYN {
			return p.Dst.Port()
		}
	}
	t.Fatal("the fixture has no SYN")
	return 0
}

func TestReadFile(t *testing.T) {
	var got streams
	var stats Stats
	err := ReadFile(context.Background(), fixture, Options{Stats: func(s Stats) { stats = s }}, got.begin)
	if err != nil {
		t.Fatal(err)
	}
	got.check(t, wanted(t))
	if stats.Streams != 2 || stats.Capture.Packets == 0 || stats.TCP.Lost != 0 {
		t.Errorf("stats %+v", stats)
	}
	for _, s := range got.all {
		if s.published == 0 || s.lost != 0 || s.end != "read live/cam1: ended: the connection was closed" {
			t.Errorf("%s: published %d, lost %d, ended %q", s.Side, s.published, s.lost, s.end)
		}
		if s.Side == "publisher" && s.URL != "rtmp://"+s.Local+"/live/cam1?token=…" {
			t.Errorf("url %q", s.URL)
		}
	}
}

func TestTornFile(t *testing.T) {
	whole, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "torn.pcap")
	if err := os.WriteFile(name, whole[:len(whole)-100], 0o600); err != nil {
		t.Fatal(err)
	}
	var got streams
	err = ReadFile(context.Background(), name, Options{}, got.begin)
	var torn *capture.TornError
	if !errors.As(err, &torn) || !Torn(err) || torn.Packets < 100 {
		t.Fatalf("got %v", err)
	}
	if len(got.all) != 2 || len(got.all[0].frames) < 100 {
		t.Errorf("what came before was not judged: %d streams", len(got.all))
	}
}

// steps are a track's frames as far as a capture from the middle can know them.
func steps(all []stream.Frame) (out []string) {
	for i, f := range all {
		step := int64(0)
		if i > 0 {
			step = f.DTS - all[i-1].DTS
		}
		out = append(out, fmt.Sprint(f.Kind, f.Size, f.Key, f.PTS-f.DTS, step))
	}
	return out
}

// suffix tells whether got, but for the step to its first frame, ends want.
func suffix(want, got []string, first stream.Frame) bool {
	if len(got) == 0 || len(got) > len(want) {
		return false
	}
	want = want[len(want)-len(got):]
	return slices.Equal(want[1:], got[1:])
}

// A capture that begins at any packet sees the rest of the frames as they are: the
// same sizes, key pictures, offsets and steps of DTS, at the same times.
func TestFromTheMiddle(t *testing.T) {
	all := packets(t)
	port := serverPort(t, all)
	whole := judge(all)
	r := rand.New(rand.NewPCG(2, 2))
	for range 60 {
		from := 30 + r.IntN(len(all)*3/4)
		got := new(streams)
		w := newWatcher(Options{Ports: []uint16{port}}, got.begin)
		for i := range all[from:] {
			w.packet(&all[from+i])
		}
		w.tcp.Close(w.last)
		if len(got.all) != 2 {
			t.Fatalf("from packet %d: %d streams", from, len(got.all))
		}
		for _, s := range got.all {
			for _, x := range whole.all {
				if x.Side != s.Side {
					continue
				}
				if s.Local != x.Local || s.Remote != x.Remote || !s.Middle && from > 60 {
					t.Fatalf("from packet %d: %+v", from, s.Conn)
				}
				for _, k := range []stream.Kind{stream.Video, stream.Audio} {
					want, have := only(x.frames, k), only(s.frames, k)
					if len(have) == 0 || !suffix(steps(want), steps(have), have[0]) {
						if testing.Verbose() {
							t.Log(steps(want)[max(len(want)-len(have)-1, 0):])
							t.Log(steps(have))
						}
						t.Fatalf("from packet %d: %s %s: %d frames that do not end the %d there are", from, s.Side, k, len(have), len(want))
					}
					at := want[len(want)-len(have)].Arrival
					if have[0].Arrival != at {
						t.Errorf("from packet %d: %s %s: arrival %d, is %d", from, s.Side, k, have[0].Arrival, at)
					}
				}
			}
		}
	}
}

// Packets that the network reorders, repeats and that the capture misses: no frame
// is made up, and most are seen.
func TestBadCapture(t *testing.T) {
	all := packets(t)
	whole := judge(all)
	total := 0
	known := map[string]bool{}
	for _, s := range whole.all {
		total += len(s.frames)
		for _, f := range s.frames {
			known[fmt.Sprint(s.Side, f.Kind, f.Size)] = true
		}
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 4))
		var bad []capture.Packet
		dropped := 0
		for i, p := range all {
			if i > 60 && r.IntN(100) < int(seed%5) {
				dropped++
				continue
			}
			bad = append(bad, p)
			if r.IntN(50) == 0 {
				bad = append(bad, p)
			}
		}
		for i := 60; i+4 < len(bad); i++ {
			if r.IntN(30) == 0 {
				j := i + 1 + r.IntN(3)
				bad[i], bad[j] = bad[j], bad[i]
				bad[i].At, bad[j].At = bad[j].At, bad[i].At
			}
		}
		got := judge(bad)
		n := 0
		for _, s := range got.all {
			n += len(s.frames)
			for _, f := range s.frames {
				if !known[fmt.Sprint(s.Side, f.Kind, f.Size)] {
					t.Fatalf("seed %d: a frame was made up: %+v", seed, f)
				}
			}
		}
		// A lost header costs its message, the one that the search begins with, and
		// what comes before the next loss where that is too little to find anything.
		if n < total-8*dropped || n > total {
			t.Errorf("seed %d: %d packets dropped, %d frames of %d", seed, dropped, n, total)
		}
	}
}
