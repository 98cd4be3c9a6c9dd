package readers

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/recording"
)

func TestClocksThatAreTied(t *testing.T) {
	inf := math.Inf(1)
	type want struct {
		shift, bound float64
		why          string
	}
	for _, x := range []struct {
		what string
		ties []tie
		want map[string]want
	}{
		{"one ahead", []tie{{a: "a", b: "b", low: 2.9, high: 3.1, by: "x"}}, map[string]want{"b": {-3, 0.1, "is 3 s ahead of that of a, within 100 ms, by x"}}},
		{"the other way round", []tie{{a: "b", b: "a", low: -3.1, high: -2.9}}, map[string]want{"b": {-3, 0.1, "ahead of"}}},
		{"behind", []tie{{a: "a", b: "b", low: -61, high: -59}}, map[string]want{"b": {60, 1, "behind that of a"}}},
		{"as good as the same is left alone", []tie{{a: "a", b: "b", low: -0.010, high: 0.016}}, map[string]want{"b": {0, 0.016, "agree within 16 ms"}}},
		{"over a third", []tie{{a: "a", b: "b", low: 2, high: 2.2}, {a: "b", b: "c", low: 0.9, high: 1.1}}, map[string]want{"b": {-2.1, 0.1, ""}, "c": {-3.1, 0.2, ""}}},
		{"two of the same clocks", []tie{{a: "a", b: "b", low: 2, high: 4, by: "x"}, {a: "b", b: "a", low: -3, high: -1, by: "y"}}, map[string]want{"b": {-2.5, 0.5, "by x and y"}}},
		{"that contradict each other", []tie{{a: "a", b: "b", low: 2, high: 4, by: "x"}, {a: "a", b: "b", low: 7, high: 7.5, by: "y"}}, map[string]want{"b": {-7.25, 0.25, "by y"}}},
	} {
		got := settle([]string{"a", "b", "c"}, x.ties)
		for clock, w := range x.want {
			c := got[clock]
			if c.clock == nil || math.Abs(c.shift.Seconds()-w.shift) > 1e-6 || math.Abs(c.clock.Bound-w.bound) > 1e-6 || c.clock.Of != "a" || !strings.Contains(c.why, w.why) {
				t.Errorf("%s: %s: %+v, %+v: want %+v", x.what, clock, c, c.clock, w)
			}
		}
		if c := got["a"]; c.shift != 0 || c.clock == nil || c.clock.Bound != 0 {
			t.Errorf("%s: the clock that the others are compared with: %+v", x.what, c)
		}
	}
	for _, x := range []struct {
		t    tie
		want string
	}{
		{tie{a: "a", b: "b", low: -inf, high: 3}, "at most 3 s ahead of that of a"},
		{tie{a: "a", b: "b", low: -inf, high: -3}, "at least 3 s behind that of a"},
		{tie{a: "a", b: "b", low: 3, high: inf}, "at least 3 s ahead of that of a"},
	} {
		c := settle([]string{"a", "b"}, []tie{x.t})["b"]
		if c.clock != nil || c.shift != 0 || !strings.Contains(c.why, x.want) || !strings.Contains(c.why, "--offset b=") {
			t.Errorf("%+v: %+v", x.t, c)
		}
	}
	if got := settle([]string{"a", "b"}, []tie{{a: "a", b: "b", low: 3, high: 2}, {a: "a", b: "a", low: 0, high: 1}}); len(got) != 0 {
		t.Errorf("ties that can't be: %v", got)
	}
}

// bothEnds reads captures of both ends, of which the server's clock is an hour ahead, and
// whatever else.
func bothEnds(t *testing.T, p Plan, more ...string) *recording.Recording {
	t.Helper()
	for _, name := range append(more, "client.pcap", "server.pcap") {
		if filepath.Dir(name) == "." {
			name = filepath.Join("testdata", "both-ends", name)
		}
		p.Files = append(p.Files, name)
	}
	p.Dir = filepath.Join(t.TempDir(), "r")
	if err := Read(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What captures of one connection tell of two hosts' clocks is true for all files of
// these hosts.
func TestClockOfAHostIsThatOfAllItsFiles(t *testing.T) {
	r := bothEnds(t, Plan{Hosts: map[string]string{"client.pcap": "laptop", "server.pcap": "origin-3", "server.strace": "origin-3.example.com"}}, "server.strace")
	files := map[string]recording.File{}
	for _, f := range r.Manifest.Files {
		if f.Format != "sides" {
			files[filepath.Base(f.Name)] = f
		}
	}
	moved := files["server.strace"]
	if d := moved.Offset - files["client.pcap"].Offset; math.Abs(math.Abs(d)-3600) > 0.1 {
		t.Errorf("the trace was moved by %v s, want an hour from the client's: %+v", d, files)
	}
	if files["server.pcap"].Offset != moved.Offset || !strings.Contains(strings.Join(files["client.pcap"].Doubts, " "), "by 1 connection on both client.pcap and server.pcap: its times were moved by +3599.9") {
		t.Errorf("%+v", files)
	}
	bounds := 0
	for _, p := range r.Manifest.Parts {
		if c := p.Manifest.Clock; c != nil {
			bounds++
			if c.Bound > 0.05 || c.Of != r.Manifest.Parts[0].Manifest.Clock.Of {
				t.Errorf("%+v", c)
			}
		}
	}
	if bounds < 2 {
		t.Errorf("%d hosts whose clocks are known: %+v", bounds, r.Manifest.Parts)
	}
}

// Without hosts a capture has a clock of its own, and a trace in whose time it lies has
// the same.
func TestCapturesAnHourApartAreOne(t *testing.T) {
	r := bothEnds(t, Plan{}, "server.strace")
	if len(r.Parts) != 0 {
		t.Fatalf("%d parts: %v", len(r.Parts), r.Manifest.Notes)
	}
	if d := r.Manifest.End.Sub(r.Manifest.Start); d > time.Minute {
		t.Errorf("the window is %v long", d)
	}
	for _, q := range r.Requests {
		if q.T < r.Manifest.Start || q.T > r.Manifest.End {
			t.Errorf("a request lies outside of the window: %v", q.T.Wall())
		}
	}
}

// What was asked for of a file or of its host is taken, whatever the captures say.
func TestOffsetOfAHost(t *testing.T) {
	hosts := map[string]string{"client.pcap": "laptop", "server.pcap": "origin-3", "server.strace": "origin-3"}
	r := bothEnds(t, Plan{Hosts: hosts, Offsets: map[string]time.Duration{"origin-3": -time.Hour + time.Second}}, "server.strace")
	for _, f := range r.Manifest.Files {
		if want := map[string]float64{"laptop": 0, "origin-3": -3599}[f.Host]; f.Format != "sides" && f.Host != "laptop" && f.Offset != want {
			t.Errorf("%s of %s: moved by %v s, want %v", f.Name, f.Host, f.Offset, want)
		}
	}
	p := Plan{Files: []string{filepath.Join("testdata", "both-ends", "client.pcap")}, Dir: filepath.Join(t.TempDir(), "r"), Offsets: map[string]time.Duration{"nobody": time.Second}}
	if err := Read(context.Background(), p); err == nil || !strings.Contains(err.Error(), "--offset nobody=") {
		t.Errorf("%v", err)
	}
}

// Two logs that name the same connections bound their hosts' clocks, and a GC log of one
// of these hosts is moved as its other log is.
func TestClocksByLogsThatNameTheSame(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for name, text := range map[string]string{
		"encoder.log": "2026-11-21T10:00:00.100Z info connecting from 10.0.0.7:51234 to rtmp://10.0.0.9/live\n2026-11-21T10:00:09.700Z warn 10.0.0.7:51234: closed by the server\n",
		"server.log":  "2026-11-21T10:00:03.150Z [conn 10.0.0.7:51234] opened\n2026-11-21T10:00:12.680Z [conn 10.0.0.7:51234] closing: no frames for 10 s\n",
		"gc.log":      "[2026-11-21T10:00:05.000+0000][info][gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 10M->5M(100M) 12.345ms\n[2026-11-21T10:00:08.000+0000][info][gc] GC(2) Pause Young (Normal) (G1 Evacuation Pause) 10M->5M(100M) 12.345ms\n",
	} {
		files = append(files, filepath.Join(dir, name))
		if err := os.WriteFile(files[len(files)-1], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(files) // the encoder's is first: its clock is what the others are compared with
	out := filepath.Join(dir, "r")
	err := Read(context.Background(), Plan{Files: files, Dir: out, Zone: time.UTC, Hosts: map[string]string{"encoder.log": "encoder", "server.log": "origin", "gc.log": "origin"}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Manifest.Files {
		want := map[string]float64{"encoder": 0, "origin": -3.015}[f.Host]
		if math.Abs(f.Offset-want) > 0.0011 {
			t.Errorf("%s of %s: moved by %v s, want %v: %v", filepath.Base(f.Name), f.Host, f.Offset, want, f.Doubts)
		}
	}
	for _, p := range r.Manifest.Parts {
		if c := p.Manifest.Clock; c == nil || c.Bound > 0.04 {
			t.Errorf("%s: %+v", p.Manifest.Host, c)
		}
	}
	said := false
	for _, c := range r.Coverage {
		said = said || strings.Contains(c.Why, "by 1 connection that both encoder.log and server.log name")
	}
	if !said {
		t.Errorf("the coverage does not say it: %+v", r.Coverage)
	}
}
