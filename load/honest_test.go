package load

import (
	"strings"
	"testing"
	"time"
)

// Each reason for which the figures are not the service's, alone.
func TestWhyTheFiguresAreNotTheServices(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		change   func(r *Result)
		want     string // "": they are
		sinceDue bool   // only the times since requests were due are doubted
	}{
		{"as it is", func(*Result) {}, "", false},
		{"late by a twentieth", func(r *Result) { lag(r, 500*time.Microsecond) }, "", false},
		{"late by a fifth", func(r *Result) { lag(r, 2*time.Millisecond) }, "half of the requests were sent 2 ms late or more by snag itself", true},
		{"99.5 % sent", func(r *Result) { r.Plan.Rate = 1005 }, "", false},
		{"95 % sent", func(r *Result) { r.Plan.Rate = 1050 }, "snag sent 1,000 of 1,050 requests, though its connections were free", false},
		{"the others wait for a connection", func(r *Result) { r.Plan.Rate, r.Behind = 1050, 50; r.Answers = r.Done }, "", false},
		{"4 % more open", func(r *Result) { r.Open *= 1.04 }, "", false},
		{"10 % more open", func(r *Result) { r.Open *= 1.1 }, "more was open than was measured", false},
		{"10 % less open", func(r *Result) { r.Open /= 1.1 }, "more was open than was measured", false},
		{"10 % more open, one lost", func(r *Result) { r.Open *= 1.1; r.Lost[NoAnswer] = 1 }, "", false},
		{"busy", func(r *Result) { r.Busy = 0.95 }, "snag's own thread was busy for 95 % of the time", false},
	} {
		r := measured(1000, 0)
		lag(r, 0)
		tt.change(r)
		why, since := r.Honest(), r.HonestSinceSent()
		if (why == "") != (tt.want == "") || !strings.Contains(why, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, why, tt.want)
		}
		if tt.sinceDue != (why != "" && since == "") {
			t.Errorf("%s: since requests were sent %q", tt.name, since)
		}
		if p := PointOf(r); p.Why != since || (p.DueWhy != "") != tt.sinceDue {
			t.Errorf("%s: a point %+v", tt.name, p)
		}
	}
	short := measured(22, 0)
	if short.Plan.Rate, short.Took = 25, 900*time.Millisecond; short.Honest() != "" { // 22.5 requests
		t.Errorf("22 of 22 requests were sent: %s", short.Honest())
	}
	few := measured(100, 0)
	if few.Open *= 1.5; few.Honest() != "" {
		t.Errorf("too few answers for Little's law: %s", few.Honest())
	}
}

func lag(r *Result, d time.Duration) {
	r.Lag.Reset()
	for range r.Sent {
		note(r.Lag, d)
	}
}
