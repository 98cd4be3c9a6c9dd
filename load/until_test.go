package load

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"
)

func bound(t *testing.T, text string) Bound {
	t.Helper()
	b, err := ParseBound(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// measured is a run with so many answers of 10 ms, and so many of 200.
func measured(fast, slow int) *Result {
	r := &Result{Done: int64(fast + slow), Sent: int64(fast + slow), Took: time.Second, Lost: map[Kind]int64{}, FromDue: newHistogram(), FromSent: newHistogram(), Lag: newHistogram()}
	r.Plan.Rate, r.Plan.For = float64(fast+slow), time.Second
	for i := range fast + slow {
		d := 10 * time.Millisecond
		if i >= fast {
			d = 200 * time.Millisecond
		}
		note(r.FromDue, d)
		note(r.FromSent, d)
	}
	r.Open = r.Rate() * r.FromSent.Mean() / 1e9
	return r
}

// What was lost, never sent or an error is later than any bound.
func TestBoundHolds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		bound              string
		fast, slow         int
		lost, failed, late int64
		want               bool
	}{
		{"p99 < 100ms", 1000, 0, 0, 0, 0, true},
		{"p99 < 100ms", 995, 5, 0, 0, 0, true},
		{"p99 < 100ms", 980, 20, 0, 0, 0, false},
		{"p99 < 100ms", 995, 5, 8, 0, 0, false}, // 13 of 1,008 are late
		{"p99.9 < 100ms", 1000, 0, 5, 0, 0, false},
		{"p50 < 100ms", 1000, 0, 20, 0, 0, false}, // more than 1 in 100 without an answer
		{"p50 < 100ms", 1000, 0, 0, 20, 0, false},
		{"p50 < 100ms", 1000, 0, 0, 0, 20, false},
		{"p50 < 100ms", 600, 400, 0, 0, 0, true},
		{"mean < 20ms", 990, 10, 0, 0, 0, true},
		{"mean < 20ms", 900, 100, 0, 0, 0, false},
		{"p50 < 100ms", 0, 0, 0, 0, 0, false},
	} {
		r := measured(tt.fast, tt.slow)
		r.Failed, r.Behind = tt.failed, tt.late
		if tt.lost > 0 {
			r.Lost[NoAnswer] = tt.lost
			r.Sent += tt.lost
		}
		if got := bound(t, tt.bound).Holds(r); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// A service of one worker that takes 10 ms answers 100 requests per second: the two rates are around that.
func TestFindLimit(t *testing.T) {
	to, _ := oneByOne(t, 10*time.Millisecond)
	p := plan(to)
	p.Conns, p.For, p.Warm = 8, 400*time.Millisecond, 100*time.Millisecond
	l, err := FindLimit(context.Background(), Search{Plan: p, Bound: bound(t, "p90 < 100ms"), From: 20, To: 1e6}, func(float64, bool, *Result) {})
	if err != nil {
		t.Fatal(err)
	}
	if l.Holds < 40 || l.Breaks > 200 || l.Breaks <= l.Holds || l.Breaks/l.Holds > 1.2 || l.Ended != "" || l.NotOurs != "" {
		t.Errorf("from %g to %g, ended %q, not ours %q", l.Holds, l.Breaks, l.Ended, l.NotOurs)
	}
	if l.AtHolds == nil || l.AtHolds.Plan.Rate != l.Holds || l.AtBreaks == nil || l.AtBreaks.Plan.Rate != l.Breaks {
		t.Errorf("the runs are not those of the two rates: %+v", l)
	}
	advice := strings.Join(l.Advice(), "\n")
	if queue := l.Saturated * 0.1; !strings.Contains(advice, "a queue longer than") || queue < 4 || queue > 12 {
		t.Errorf("%.1f: %s", queue, advice)
	}
}

// Of sessions it is their number that is searched.
func TestFindSessions(t *testing.T) {
	to, _ := oneByOne(t, 10*time.Millisecond) // 100 messages/s: 10 sessions, each with one in 100 ms
	p := plan(to)
	p.Sessions, p.Deadline, p.For, p.Warm = true, 100*time.Millisecond, 600*time.Millisecond, 100*time.Millisecond
	s := Search{Plan: p, Bound: bound(t, "p90 < 100ms"), From: 4, To: 64, Every: 100 * time.Millisecond}
	l, err := FindLimit(context.Background(), s, func(at float64, _ bool, r *Result) {
		if at != math.Trunc(at) || r.Plan.Conns != int(at) || r.Plan.Rate != at*10 || r.Sessions.All != int(at) {
			t.Errorf("%g sessions: %+v", at, r.Plan)
		}
	})
	if err != nil || l.Holds < 4 || l.Holds > 10 || l.Breaks <= l.Holds || l.Breaks > 16 {
		t.Errorf("%g to %g sessions, %v", l.Holds, l.Breaks, err)
	}
	if s.Shown(1) != "1 session" || (Search{}).Shown(1200) != "1,200 requests/s" {
		t.Errorf("%s, %s", s.Shown(1), Search{}.Shown(1200))
	}
}

// What was found until then is kept.
func TestAnInterruptedSearch(t *testing.T) {
	to := null(t, "tcp://127.0.0.1:1", Request{Size: 64, Reply: 64})
	p := plan(to)
	p.For = 100 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := Search{Plan: p, Bound: bound(t, "p50 < 5s"), From: 50, To: 1000}
	l, err := FindLimit(ctx, s, func(at float64, _ bool, _ *Result) {
		if at == 100 {
			cancel()
		}
	})
	if err != nil || l.Holds != 50 || l.Ended != interrupted || l.AtHolds == nil {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := FindLimit(ctx, s, func(float64, bool, *Result) {}); err == nil || !strings.Contains(err.Error(), "nothing was measured") {
		t.Errorf("interrupted before it began: %v", err)
	}
}

// A run that fails in the middle, as the service has gone, ends the search with what it has.
func TestASearchWhoseServiceGoes(t *testing.T) {
	n, err := NewNull(target(t, "tcp://127.0.0.1:1", Request{Size: 64, Reply: 64}))
	if err != nil {
		t.Fatal(err)
	}
	p := plan(n.Target)
	p.For = 100 * time.Millisecond
	s := Search{Plan: p, Bound: bound(t, "p50 < 5s"), From: 50, To: 1000}
	l, err := FindLimit(context.Background(), s, func(at float64, _ bool, _ *Result) {
		if at == 100 {
			n.Close()
		}
	})
	if err != nil || l.Holds != 50 || !strings.Contains(l.Ended, "at 100 requests/s: ") || !strings.Contains(l.Ended, string(Refused)) {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := FindLimit(context.Background(), s, func(float64, bool, *Result) {}); err == nil || !strings.Contains(err.Error(), string(Refused)) {
		t.Errorf("nothing listens: %v", err)
	}
}

func TestAdviceOfOneRate(t *testing.T) {
	t.Parallel()
	r := measured(500, 0)
	r.Plan.Rate, r.Plan.Timeout, r.Behind, r.Answers = 1000, 2*time.Second, 500, 500
	advice := strings.Join(r.Advice(), "\n")
	for _, want := range []string{"If more --conns bring no more than 500 answers/s, of a queue longer than 1,000 requests the last is not answered within 2s", "Clients that give up after 2s"} {
		if !strings.Contains(advice, want) {
			t.Errorf("%q is not in %s", want, advice)
		}
	}
	if r.Plan.Deadline = 100 * time.Millisecond; !strings.Contains(strings.Join(r.Advice(), "\n"), "longer than 50 requests") {
		t.Errorf("with a deadline: %s", r.Advice())
	}
	if r.Busy = 1; r.Advice() != nil {
		t.Errorf("figures of snag itself: %s", r.Advice())
	}
	if advice := measured(500, 0).Advice(); advice != nil {
		t.Errorf("it keeps up: %s", advice)
	}
}
