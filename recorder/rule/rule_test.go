package rule

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"

	"snag/recording"
)

// What Prometheus' engine (v0.315) answers to expressions over random series at several times: counters
// that begin again, series with few samples, gauges. Times are milliseconds.
type answered struct {
	Series []struct {
		Name   string
		Labels recording.Labels
		Points []recording.Point
	} `json:"series"`
	Cases []struct {
		Expr   string
		Now    int64
		Scalar bool
		Want   []struct {
			Labels recording.Labels
			V      float64
		}
	} `json:"cases"`
}

func TestAnswersOfPrometheus(t *testing.T) {
	f, err := os.Open("testdata/engine.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all answered
	if err := json.NewDecoder(z).Decode(&all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all.Cases {
		r, err := Parse(c.Expr)
		if err != nil {
			if !c.Scalar {
				t.Errorf("%s: %v", c.Expr, err)
			}
			continue
		}
		for _, s := range all.Series {
			for _, p := range s.Points {
				if p.T <= recording.Time(c.Now) { // as a recorder has them
					r.Sample(p.T*1e6, s.Name, s.Labels, p.V)
				}
			}
		}
		v := r.eval(r.expr, recording.Time(c.Now)*1e6)
		got, want := []string{}, []string{}
		for _, s := range v.vector {
			got = append(got, text(s.labels, s.v))
		}
		for _, w := range c.Want {
			want = append(want, text(labels.FromMap(w.Labels), w.V))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s at %d: %v, Prometheus has %v", c.Expr, c.Now, got, want)
		}
		if _, holds := r.Holds(recording.Time(c.Now) * 1e6); holds != (len(c.Want) > 0) {
			t.Errorf("%s at %d holds: %v", c.Expr, c.Now, holds)
		}
	}
}

func text(l labels.Labels, v float64) string { return fmt.Sprintf("%s %.9g", l, v+0) }

func TestWhatIsRejected(t *testing.T) {
	for expr, says := range map[string]string{
		"rate(node_load1[10s]) > ":              "no PromQL",
		"rate(node_load1[10s]":                  "no PromQL",
		"rate(node_load1[10s]) > 1 offset":      "no PromQL",
		"node_load1 offset 5m > 1":              "offset",
		"node_load1[5m]":                        "range vector",
		"1 > bool 0":                            "names no series",
		"histogram_quantile(0.9, a_bucket) > 1": "histogram_quantile is not supported; there are abs, avg_over_time",
		"topk(3, node_load1)":                   "topk is not supported",
		"a * on (x) b > 1":                      "on, ignoring",
		"rate(node_load1[1h]) > 0":              "at most 15m",
		"max_over_time(rate(a[10s])[1m:]) > 0":  "subqueries",
		"{job=\"x\"} > 1":                       "name the series",
		"":                                      "no PromQL",
	} {
		if _, err := Parse(expr); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", expr, err, says)
		}
	}
}

func TestText(t *testing.T) {
	r, err := Parse(`max_over_time(q[10s]) > 5`)
	if err != nil {
		t.Fatal(err)
	}
	at := recording.Time(1e18)
	r.Sample(at, "q", recording.Labels{"device": "eth1"}, 8)
	r.Sample(at, "q", recording.Labels{"device": "eth0"}, 7)
	r.Sample(at, "other", nil, 7)
	if got, ok := r.Holds(at); !ok || got != `max_over_time(q[10s]) > 5: 7 for {device="eth0"} and 1 more` {
		t.Errorf("%q %v", got, ok)
	}
	if _, ok := r.Holds(at.Add(3 * lookback)); ok || r.points != 0 {
		t.Errorf("series that ended: %v, %d samples", ok, r.points)
	}
}

// An hour of samples every second must not grow.
func TestSamplesThatAreKept(t *testing.T) {
	r, err := Parse(`rate(a[1m]) > 5`)
	if err != nil {
		t.Fatal(err)
	}
	at := recording.Time(1e18)
	most := 0
	for i := range 3600 {
		at += 1e9
		for _, device := range []string{"a", "b", "c"} {
			r.Sample(at, "a", recording.Labels{"device": device}, float64(i))
		}
		r.Holds(at)
		most = max(most, r.points)
	}
	if most > 3*2*125 || r.Lost != 0 {
		t.Errorf("%d samples kept, %d lost", most, r.Lost)
	}
	for i := range mostPoints + 5 {
		r.Sample(at, "a", recording.Labels{"device": fmt.Sprint(i)}, math.NaN())
	}
	if r.points > mostPoints || r.Lost == 0 {
		t.Errorf("%d samples kept, %d lost", r.points, r.Lost)
	}
}
