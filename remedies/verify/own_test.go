package verify

import (
	"testing"

	"snag/recording"
)

const second = recording.Time(1e9)

// The same program may do the same at the same addresses in another network namespace.
func TestHoldsAreOfTheSubjectsNamespace(t *testing.T) {
	of := func(netns uint64, at recording.Time) recording.Hold {
		return recording.Hold{T: at, Netns: netns, Local: "10.0.0.2:4000", Remote: "10.0.0.1:9000", Comm: "api", Released: 10, HoldSum: 0.4}
	}
	r := &recording.Recording{Manifest: recording.Manifest{Start: 0, End: 10 * second}, Holds: []recording.Hold{of(7, second), of(8, 2*second), of(8, 3*second)}}
	sub := recording.Subject{Netns: 7, Comm: "api", Local: "10.0.0.2:4000", Remote: "10.0.0.1:9000"}
	if s := holds(r, sub); s.sum() != 0.4 {
		t.Errorf("held for %g s, want 0.4", s.sum())
	}
}

func TestALoopbackPortIsOfItsNamespace(t *testing.T) {
	at := func(netns uint64, local string) recording.Subject {
		return recording.Subject{Netns: netns, Proto: "tcp", Local: local}
	}
	for _, c := range []struct {
		a, b recording.Subject
		want bool
	}{
		{at(1, "127.0.0.1:80"), at(1, "127.0.0.1:80"), true},
		{at(1, "127.0.0.1:80"), at(2, "127.0.0.1:80"), false},
		{at(1, "10.0.0.1:80"), at(2, "10.0.0.1:80"), true},
	} {
		if got := samePort(c.a, c.b); got != c.want {
			t.Errorf("%s of %d and %s of %d: %v", c.a.Local, c.a.Netns, c.b.Local, c.b.Netns, got)
		}
	}
}

// Two requests before and one after are no half of the load where bytes tell that it is as it was.
func TestFewRequestsAreNoLoad(t *testing.T) {
	with := func(requests, bytes uint64) *recording.Recording {
		socket := func(at recording.Time, sent uint64) recording.Socket {
			return recording.Socket{T: at, Netns: 7, Proto: "tcp", State: "ESTABLISHED", Local: "10.0.0.1:9000", Remote: "10.0.0.2:4000", Inode: 5, TCP: &recording.TCPInfo{BytesSent: sent}}
		}
		return &recording.Recording{
			Manifest: recording.Manifest{Start: 0, End: 20 * second},
			Coverage: []recording.Coverage{{Probe: "sockets.turns", State: recording.CoverageOK}},
			Turns:    []recording.Turns{{T: second, Netns: 7, Role: "serve", Local: "10.0.0.1:9000", Remote: "10.0.0.2", N: requests}},
			Sockets:  []recording.Socket{socket(0, 0), socket(19*second, bytes)},
		}
	}
	sub := recording.Subject{Netns: 7, Proto: "tcp", Local: "10.0.0.1:9000"}
	for _, c := range []struct {
		before, after *recording.Recording
		unit          string
		ratio         float64
	}{
		{with(2, 1_000_000), with(1, 1_000_000), "bytes/s", 1},
		{with(200, 1_000_000), with(100, 1_000_000), "requests/s", 0.5},
		{with(2, 0), with(1, 0), "requests/s", 0.5}, // there is nothing else
	} {
		if l := loadBeside(c.before, c.after, sub, sub, measure{}); l == nil || l.Unit != c.unit || l.Ratio != c.ratio {
			t.Errorf("load %+v, want %g of %s", l, c.ratio, c.unit)
		}
	}
}
