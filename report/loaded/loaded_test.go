package loaded

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"snag/load"
	"snag/load/shape"
)

func swept() Sweep {
	s := Sweep{Target: "http://h/<x>"}
	for _, rate := range []float64{10, 100, 1000, 10_000} {
		for range 3 {
			s.Points = append(s.Points, shape.Point{Rate: rate, Conns: 10, Answers: min(rate, 800), Sent: int64(rate), Open: 1, Mean: 0.04 / rate * 10, P50: 0.04 / rate * 10, P90: 0.05, P99: 0.06, DueP50: 0.04, DueP99: 0.2})
		}
	}
	s.Points[0].Why, s.Points[1].Why, s.Points[2].Why = "late", "late", "late"
	k, _ := shape.FindKnee(shape.Join(s.Points))
	s.Read = load.Reading{Sentences: []string{"slower with few requests than with many"}, Knee: &k}
	return s
}

// Each width holds 80 columns, and what is not the service's is marked.
func TestSweepText(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	swept().Text(&b)
	text := b.String()
	for _, want := range []string{"http://h/<x>: slower with few", "on 10 connections", "10,000", "(1) not the service's figures: late", "█"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	b.Reset()
	if err := swept().JSON(&b); err != nil {
		t.Fatal(err)
	}
	var out struct {
		Points []map[string]any
	}
	if err := json.Unmarshal(b.Bytes(), &out); err != nil || len(out.Points) != 12 {
		t.Errorf("%v, %d points", err, len(out.Points))
	}
}

func TestSweepPage(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := swept().HTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"&lt;x&gt;", "<polyline class=\"p50\"", "most: ", "p99 since due", "<p>Slower with few", "text-anchor=\"end\">10,000<"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") || strings.Contains(page, "http://h/<x>") {
		t.Error("a number that is none, or a target that is not escaped")
	}
	// One rate alone is no chart, and no answer is no number.
	alone := Sweep{Target: "t", Swept: load.Swept{Points: []shape.Point{{Rate: 10, Conns: 1}}}}
	b.Reset()
	if err := alone.HTML(&b); err != nil || strings.Contains(b.String(), "<svg") {
		t.Errorf("%v: %s", err, b.String())
	}
	b.Reset()
	alone.Text(&b)
	if !strings.Contains(b.String(), "no answer") {
		t.Error(b.String())
	}
}

func TestScale(t *testing.T) {
	t.Parallel()
	s := scaleOf([]shape.At{{Point: shape.Point{P50: 1e-3}}, {Point: shape.Point{P50: 1.1e-3}}})
	if p := s.part(1.1e-3); p > 0.1 {
		t.Errorf("10 %% more fills %.0f %% of the bar", 100*p)
	}
	if p := s.part(math.SmallestNonzeroFloat64); p != 0 {
		t.Errorf("below the scale: %g", p)
	}
}
