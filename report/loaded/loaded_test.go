package loaded

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

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

func result(rate float64, p50 time.Duration) *load.Result {
	h := hdrhistogram.New(1, time.Hour.Nanoseconds(), 3)
	_ = h.RecordValues(p50.Nanoseconds(), 100)
	return &load.Result{Plan: load.Plan{Rate: rate, Conns: 10}, Took: time.Second, Done: 100, FromSent: h, FromDue: h, Lag: hdrhistogram.New(1, time.Hour.Nanoseconds(), 3), Lost: map[load.Kind]int64{}}
}

// A sweep that ended early says so, a step that failed has no figures, and the empty server and the advice are shown.
func TestASweepThatEndedEarly(t *testing.T) {
	t.Parallel()
	s := swept()
	s.Of, s.Ended, s.Null = 20, "interrupted", result(1000, 30*time.Microsecond)
	s.Read.Advice = []string{"A shorter queue."}
	s.Points[3].DueWhy, s.Points[4].DueWhy, s.Points[5].DueWhy = "snag was late", "snag was late", "snag was late"
	s.Points = append(s.Points, shape.Point{Rate: 20_000, Conns: 10, Failed: true, Why: "connection refused"})
	var b bytes.Buffer
	s.Text(&b)
	for _, want := range []string{"ENDED EARLY, after 13 of 20 steps: interrupted", "an empty server takes 30 µs", "20,000           -         -         -  not measured (2)", "(2) the run failed: connection refused", "A shorter queue."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := s.HTML(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ENDED EARLY", "A shorter queue.", "<td>20,000</td><td>-</td><td>-</td><td>-</td><td>-</td><td>-</td><td>the run failed: connection refused</td>", "<td>-</td><td>0</td><td>since due: snag was late</td>"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in the page: %s", want, b.String())
		}
	}
	b.Reset()
	if err := s.JSON(&b); err != nil {
		t.Fatal(err)
	}
	var out struct {
		Points []map[string]any
		Ended  string             `json:"ended_early"`
		Null   map[string]float64 `json:"empty_server"`
	}
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	last := out.Points[12]
	if out.Ended != "interrupted" || out.Null["p50"] == 0 || last["p50"] != nil || last["rate"] != nil || last["sent"] != nil || last["failed"] != "connection refused" || last["not_the_services"] != "" {
		t.Errorf("%q %v %v", out.Ended, out.Null, last)
	}
	if p := out.Points[3]; p["since_due_not_the_services"] != "snag was late" || p["not_the_services"] != "" || p["p50"] == nil {
		t.Errorf("%v", p)
	}
}

// A search says the interval of what was searched, rates or sessions, and why it ended early.
func TestLimitText(t *testing.T) {
	t.Parallel()
	b, err := load.ParseBound("p99 < 100ms")
	if err != nil {
		t.Fatal(err)
	}
	rates := load.Search{Bound: b, From: 10, To: 1000}
	sessions := load.Search{Bound: b, From: 1, To: 64, Every: 100 * time.Millisecond}
	for _, tt := range []struct {
		l    load.Limit
		want string
	}{
		{load.Limit{Search: rates, Holds: 400, Breaks: 420}, "p99 < 100ms up to 400 requests/s; not at 420"},
		{load.Limit{Search: rates, Holds: 1000}, "p99 < 100ms holds at 1,000 requests/s, the highest rate that was tried"},
		{load.Limit{Search: rates, Breaks: 10}, "p99 < 100ms does not hold at 10 requests/s, the lowest rate that was tried"},
		{load.Limit{Search: rates, Ended: "interrupted", Runs: 1}, "where p99 < 100ms holds is not known\nENDED EARLY, after 1 run: interrupted"},
		{load.Limit{Search: rates, Holds: 10, NotOurs: "snag was late"}, "p99 < 100ms at 10 requests/s, and snag could not measure more"},
		{load.Limit{Search: sessions, Holds: 21, Breaks: 22}, "it carries 21 to 22 sessions: p99 < 100ms holds with 21 and not with 22"},
		{load.Limit{Search: sessions, Holds: 64}, "p99 < 100ms holds with 64 sessions, the most that were tried"},
		{load.Limit{Search: sessions, Breaks: 1}, "p99 < 100ms does not hold with 1 session, the fewest that were tried"},
	} {
		var out bytes.Buffer
		Limit{Target: "t", Limit: tt.l}.Text(&out)
		if !strings.Contains(out.String(), tt.want) {
			t.Errorf("%q is not in %q", tt.want, out.String())
		}
	}
	var out bytes.Buffer
	if err := (Limit{Target: "t", Limit: load.Limit{Search: sessions, Holds: 21, Breaks: 22}, Null: result(1000, time.Millisecond)}).JSON(&out); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got["holds_at"] != 210.0 || got["sessions_hold"] != 21.0 || got["sessions_break"] != 22.0 || got["connections"] != nil || got["empty_server"] == nil {
		t.Errorf("%v, %v", got, err)
	}
}
