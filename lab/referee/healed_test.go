package referee

import (
	"math"
	"strings"
	"testing"
	"time"

	"snag/lab/clientlog"
)

func TestHeal(t *testing.T) {
	well := Figures{Requests: 1000, P50: 0.010, P99: 0.030, Longest: []float64{0.03}}
	with := func(change func(*Figures)) Figures {
		f := well
		change(&f)
		return f
	}
	slow := with(func(f *Figures) { f.P50 = 0.110 })
	fails := with(func(f *Figures) { f.Failed = 0.5 })
	both := with(func(f *Figures) { f.P50, f.Failed = 0.110, 0.5 })
	gone := Figures{} // the clients ask no more
	streamWell, streamHalf := Figures{Delivered: 1000}, Figures{Delivered: 100}
	for _, c := range []struct {
		name                   string
		healthy, faulty, after Figures
		harm                   bool
		removed                float64
		worse                  string
	}{
		{"all of it", well, slow, well, true, 1, ""},
		{"within the floor of the p50", well, slow, with(func(f *Figures) { f.P50 = 0.0109 }), true, 1, ""},
		{"nine tenths", well, slow, with(func(f *Figures) { f.P50 = 0.020 }), true, 0.9, ""},
		{"nothing", well, slow, slow, true, 0, ""},
		{"a little worse is as bad", well, slow, with(func(f *Figures) { f.P50 = 0.150 }), true, 0, ""},
		{"twice as bad", well, slow, with(func(f *Figures) { f.P50 = 0.230 }), true, 0, "p50 230.0 ms, 110.0 ms before"},
		{"fast, and fails", well, slow, fails, true, 1, "50.0 % of the requests failed"},
		{"the least of two things counts", well, both, with(func(f *Figures) { f.Failed = 0.1 }), true, 0.8, ""},
		{"no request is not a remedy", well, slow, gone, true, 0, "no request was made"},
		{"no datagram is not a remedy", Figures{Datagrams: 100}, Figures{Datagrams: 100, DatagramsLost: 0.3}, gone, true, 0, ""},
		{"datagrams", Figures{Datagrams: 100}, Figures{Datagrams: 100, DatagramsLost: 0.3}, Figures{Datagrams: 100, DatagramsLost: 0.03}, true, 0.9, ""},
		{"a stream", streamWell, streamHalf, Figures{Delivered: 1000}, true, 1, ""},
		{"half of a stream's rate", streamWell, streamHalf, Figures{Delivered: 550}, true, 0.5, ""},
		{"one in a hundred more by chance", well, with(func(f *Figures) { f.Requests, f.Failed = 100, 0.5 }), with(func(f *Figures) { f.Requests, f.Failed = 100, 0.53 }), true, 0, ""},
		{"one in ten more", well, with(func(f *Figures) { f.Failed = 0.5 }), with(func(f *Figures) { f.Failed = 0.6 }), true, 0, "60.0 % of the requests failed"},
		{"as many fail in another way", well, with(func(f *Figures) { f.Failed = 0.5 }), with(func(f *Figures) { f.Lost = 0.5 }), true, 0, ""},
		{"more fail in another way", well, with(func(f *Figures) { f.Failed = 0.5 }), with(func(f *Figures) { f.Lost = 0.9 }), true, 0, "90.0 % of the requests were not answered"},
		{"nobody noticed the fault", well, well, well, false, 0, ""},
		{"nobody noticed the fault, but the remedy", well, well, slow, false, 0, "p50 110.0 ms"},
		{"worse than the fault, and well", well, with(func(f *Figures) { f.P50 = 0.001 }), well, false, 0, ""},
	} {
		h := Heal(c.healthy, c.faulty, c.after)
		if h.Harm != c.harm || math.Abs(h.Removed-c.removed) > 1e-9 || (h.Worse == "") != (c.worse == "") || !strings.Contains(h.Worse, c.worse) || h.Harm && h.Left == "" {
			t.Errorf("%s: %+v", c.name, h)
		}
	}
}

// What is as bad without the remedy at that time is not the remedy's doing.
func TestWorseThanWithout(t *testing.T) {
	with := func(p50 float64) Figures { return Figures{Requests: 100, P50: p50} }
	if h := Heal(with(0.01), with(0.1), with(0.3), with(0.29)); h.Worse != "" {
		t.Error(h.Worse)
	}
	if h := Heal(with(0.01), with(0.1), with(0.3), with(0.1)); h.Worse == "" {
		t.Error("three times as long as without the remedy is not worse")
	}
}

// What is left says of which thing: the one of which the least is gone.
func TestLeft(t *testing.T) {
	well := Figures{Requests: 100, P50: 0.01}
	h := Heal(well, Figures{Requests: 100, P50: 0.11, Lost: 0.5}, Figures{Requests: 100, P50: 0.01, Lost: 0.4})
	if math.Abs(h.Removed-0.2) > 1e-9 || h.Left != "50.0 % of the requests were not answered; then 40.0 % failed or were not answered" {
		t.Errorf("%+v", h)
	}
}

// A request that was stuck before the remedy counts from the remedy on; the log itself stays.
func TestSince(t *testing.T) {
	at := func(s float64) time.Time { return t0.Add(time.Duration(s * float64(time.Second))) }
	l := clientlog.Log{Requests: []clientlog.Request{
		{Start: at(-30), Length: 20 * time.Second, Outcome: clientlog.Failed}, // ended long before
		{Start: at(-20), Length: 25 * time.Second, Outcome: clientlog.Lost},
		{Start: at(1), Length: time.Second, Outcome: clientlog.OK},
	}}
	cut := Since([]clientlog.Log{l}, at(-2))
	f := Measure(cut, window)
	if f.Requests != 2 || math.Abs(f.Longest[1]-7) > 1e-9 || f.Lost != 0.5 {
		t.Errorf("%+v", f)
	}
	if l.Requests[1].Length != 25*time.Second {
		t.Error("the log was changed")
	}
}
