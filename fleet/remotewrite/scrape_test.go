package remotewrite

import (
	"fmt"
	"testing"
	"time"

	"snag/recording"
)

func named(all []Measured) map[string]float64 {
	out := map[string]float64{}
	for _, m := range all {
		name := m.Name
		for _, label := range []string{"le", "stream"} {
			if v := m.Labels[label]; v != "" {
				name += " " + v
			}
		}
		out[name] = m.Value
	}
	return out
}

// Two who ask get the same, and what is over is gone.
func TestScrape(t *testing.T) {
	s := NewScrape(300)
	s.Sample(at, "snag_stream_gap_seconds", recording.Labels{"stream": "live/a"}, 0.04)
	s.Sample(at, "node_load1", nil, 1) // node_exporter has it
	s.Append(recording.Turns{T: at, Role: "serve", Local: "0.0.0.0:80", Comm: "nginx", N: 10, Sum: 2, Open: 3, Oldest: 7, Hist: hist(map[int]uint64{20: 10})})
	for range 2 {
		got := named(s.Now(at.Add(time.Second)))
		if _, is := got["node_load1"]; is {
			t.Error("series of node_exporter are there")
		}
		for name, want := range map[string]float64{
			"snag_stream_gap_seconds live/a": 0.04, "snag_service_answers_total": 10, "snag_service_open_requests": 3,
			"snag_service_oldest_request_seconds": 7, "snag_service_answer_seconds_bucket +Inf": 10, "snag_service_answer_seconds_bucket 0.032768": 10,
		} {
			if v, is := got[name]; !is || v != want {
				t.Errorf("%s is %v, %v, want %g", name, v, is, want)
			}
		}
	}
	s.Sample(at.Add(time.Minute), "snag_stream_gap_seconds", recording.Labels{"stream": "live/b"}, 0.05)
	got := named(s.Now(at.Add(time.Minute)))
	if _, is := got["snag_stream_gap_seconds live/a"]; is || got["snag_stream_gap_seconds live/b"] != 0.05 {
		t.Errorf("%v", got)
	}
	if got["snag_service_open_requests"] != 0 || got["snag_service_answers_total"] != 10 { // counters stay, nothing is open any more
		t.Errorf("%v", got)
	}
}

func TestScrapeIsBounded(t *testing.T) {
	s := NewScrape(300)
	for i := range 3000 {
		s.Sample(at, "snag_stream_gap_seconds", recording.Labels{"stream": fmt.Sprint(i)}, 1)
		s.Append(recording.Turns{T: at, Role: "call", Remote: fmt.Sprintf("10.0.0.%d:80", i), Comm: "app", N: 1})
	}
	count := map[string]int{}
	left := 0.0
	for _, m := range s.Now(at) {
		count[m.Name]++
		if m.Name == "snag_answers_left_out_total" {
			left = m.Value
		}
	}
	if count["snag_stream_gap_seconds"] != 200 || count["snag_dependency_answers_total"] != mostParties || left != 3000-mostParties {
		t.Errorf("%v, %g left out", count, left)
	}
}
