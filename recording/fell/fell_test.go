package fell

import (
	"slices"
	"testing"
)

func of(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }

func TestFrameRate(t *testing.T) {
	uneven := slices.Repeat([]float64{50, 20}, 10)
	for name, c := range map[string]struct {
		before, now []float64
		want        bool
	}{
		"half":                        {of(20, 50), of(5, 25), true},
		"half, after a bad second":    {append(of(20, 50), 10), of(5, 25), true},
		"a fifth less":                {of(20, 50), of(5, 40), false},
		"one that is not steady":      {of(20, 50), []float64{25, 0, 50, 0, 25}, false},
		"one that begins too late":    {of(20, 50), []float64{50, 10, 10, 10, 10}, false},
		"from one that varies always": {uneven, of(5, 15), false},
		"from nothing":                {of(20, 0), of(5, 0), false},
		"nothing was before":          {nil, of(5, 25), false},
		"nothing is now":              {of(20, 50), nil, false},
	} {
		if got := FrameRate(c.before, c.now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestBitRate(t *testing.T) {
	rests := append(of(20, 100_000), of(10, 5_000)...)
	for name, c := range map[string]struct {
		before, now, framesBefore, framesNow []float64
		want                                 bool
	}{
		"an eighth":               {of(20, 80_000), of(5, 10_000), of(20, 25), of(5, 25), true},
		"a fifth":                 {of(20, 80_000), of(5, 16_000), of(20, 25), of(5, 25), false},
		"of fewer frames":         {of(20, 80_000), of(5, 10_000), of(20, 25), of(5, 15), false},
		"too few bytes before":    {of(20, 5_000), of(5, 100), of(20, 25), of(5, 25), false},
		"of one that is often so": {rests, of(5, 5_000), of(30, 25), of(5, 25), false},
	} {
		if got := BitRate(c.before, c.now, c.framesBefore, c.framesNow); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What fell is not back at once where it is a little better: it would begin and end again and again.
func TestBack(t *testing.T) {
	if FrameRateBack(50, of(5, 35)) || !FrameRateBack(50, of(5, 40)) {
		t.Error("frames: back between 0.7 and 0.8 of what there were")
	}
	if BitRateBack(80_000, of(5, 15_000)) || !BitRateBack(80_000, of(5, 20_000)) {
		t.Error("bits: back at a quarter of what there were")
	}
}
