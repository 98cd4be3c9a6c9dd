package calibrate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Without samples the prior stands; with many it is outweighed by the truth that
// made them.
func TestFit(t *testing.T) {
	prior := []float64{-1, 3}
	if w, err := Fit(nil, prior); err != nil || w[0] != -1 || w[1] != 3 {
		t.Errorf("of nothing: %v, %v", w, err)
	}
	truth := []float64{0.5, 1.5}
	r := rand.New(rand.NewPCG(1, 2))
	var samples []Sample
	for range 20_000 {
		terms := []float64{1, r.Float64() * 2}
		samples = append(samples, Sample{Terms: terms, Right: r.Float64() < logistic(truth, terms)})
	}
	w, err := Fit(samples, prior)
	if err != nil || math.Abs(w[0]-truth[0]) > 0.1 || math.Abs(w[1]-truth[1]) > 0.1 {
		t.Errorf("fitted %v, %v; the truth is %v", w, err, truth)
	}
}

// Of one weight the answer is known: the mean of the outcomes, moved to the prior.
func TestFitOfOne(t *testing.T) {
	var samples []Sample
	for i := range 1000 {
		samples = append(samples, Sample{Terms: []float64{1}, Right: i%10 != 0})
	}
	w, err := Fit(samples, []float64{0})
	if err != nil {
		t.Fatal(err)
	}
	// 1000 · (p − 0.9) + hold · w = 0
	if p := logistic(w, []float64{1}); math.Abs(1000*(p-0.9)+hold*w[0]) > 1e-6 {
		t.Errorf("p = %v at w = %v", p, w)
	}
}

// All right for ever does not run away: the prior holds it.
func TestFitStaysFinite(t *testing.T) {
	var samples []Sample
	for range 100 {
		samples = append(samples, Sample{Terms: []float64{1, 1}, Right: true})
	}
	w, err := Fit(samples, []float64{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	if p := logistic(w, []float64{1, 1}); p < 0.95 || p > 0.999 {
		t.Errorf("100 of 100 right gives %v", p)
	}
}

// An incident that goes against all others is judged by the others alone.
func TestUnseen(t *testing.T) {
	var samples []Sample
	for range 50 {
		samples = append(samples, Sample{Group: "a", Terms: []float64{1}, Right: true}, Sample{Group: "b", Terms: []float64{1}})
	}
	p, err := Unseen(samples, []float64{0})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range samples {
		if s.Group == "a" && p[i] > 0.1 || s.Group == "b" && p[i] < 0.9 {
			t.Fatalf("%s was given %v by a fit that has seen it", s.Group, p[i])
		}
	}
}

// A term that speaks against what its prior says is left out, not turned round.
func TestFitKeepsSigns(t *testing.T) {
	var samples []Sample
	for i := range 200 {
		high := float64(i % 2)
		samples = append(samples, Sample{Terms: []float64{1, high}, Right: high == 0})
	}
	w, err := Fit(samples, []float64{0, 1})
	if err != nil || w[1] != 0 || math.Abs(w[0]) > 1e-6 {
		t.Errorf("fitted %v, %v; want nothing of the second term, and one in two right", w, err)
	}
}
