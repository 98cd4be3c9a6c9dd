package score

import (
	"math"
	"testing"
)

func TestCalibrate(t *testing.T) {
	c := Calibrate([]Claim{{"a", 1, true}, {"b", 0.9, true}, {"c", 0.9, false}, {"d", 0.2, false}})
	// (0 + 0.01 + 0.81 + 0.04) / 4, and 0.5 × 0.5.
	if math.Abs(c.Brier-0.215) > 1e-12 || c.BaseBrier != 0.25 || c.N != 4 || c.Right != 2 {
		t.Errorf("got %+v", c)
	}
	for _, b := range c.Bins {
		want := Bin{From: b.From, To: b.To}
		switch b.From {
		case 0:
			want.N, want.Said, want.Was = 1, 0.2, 0
		case 0.9:
			want.N, want.Said, want.Was = 2, 0.9, 0.5
		case 0.95:
			want.N, want.Said, want.Was = 1, 1, 1
		}
		if b != want {
			t.Errorf("bin from %.2f: got %+v, want %+v", b.From, b, want)
		}
	}
	if empty := Calibrate(nil); empty.Brier != 0 || empty.N != 0 || len(empty.Bins) != len(c.Bins) {
		t.Errorf("of nothing: %+v", empty)
	}
}

func TestBins(t *testing.T) {
	for confidence, from := range map[float64]float64{0: 0, 0.49: 0, 0.5: 0.5, 0.7: 0.7, 0.899: 0.8, 0.95: 0.95, 1: 0.95} {
		if got := edges[binOf(confidence)]; got != from {
			t.Errorf("%.3f is in the bin from %.2f, want %.2f", confidence, got, from)
		}
	}
}
