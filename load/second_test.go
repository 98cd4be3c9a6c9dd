package load

import (
	"context"
	"math"
	"testing"
	"time"
)

// The seconds of a run add up to the whole of it, and the parts of the time since requests were due to that time.
func TestSecondsAddUp(t *testing.T) {
	address := echoAfter(t, func() {
		time.Sleep(20 * time.Millisecond)
	})
	var seconds []Second
	p := plan(target(t, "tcp://"+address, Request{Size: 64, Reply: 64}))
	// Two connections of 20 ms: 100 requests per second at most, of 120 asked.
	p.Rate, p.Conns, p.For, p.Warm, p.Deadline = 120, 2, 2200*time.Millisecond, 200*time.Millisecond, 100*time.Millisecond
	p.Each = func(_ time.Time, s Second) { seconds = append(seconds, s) }
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(seconds) < 3 || seconds[1].Began != time.Second {
		t.Fatalf("%d seconds: %+v", len(seconds), seconds)
	}
	var all Second
	var open float64
	for i, s := range seconds {
		all.Asked, all.Sent, all.Done, all.Late = all.Asked+s.Asked, all.Sent+s.Sent, all.Done+s.Done, all.Late+s.Late
		all.add(s.Parts)
		length := 1.0
		if i == 2 {
			length = 0.2
		}
		if i < 3 {
			open += s.Open * length
		}
		n := uint64(0)
		for _, c := range s.DueHist {
			n += c
		}
		if int64(n) != s.Done {
			t.Errorf("second %d: %d answers, %d in the histogram", i, s.Done, n)
		}
	}
	if all.Asked != 264 || r.Asked != all.Asked || all.Sent != r.Sent || all.Done != r.Done || all.Late != r.Late || all.N != r.Done {
		t.Errorf("seconds: %+v, the whole: asked %d, sent %d, answered %d, late %d", all, r.Asked, r.Sent, r.Done, r.Late)
	}
	n := float64(r.Done)
	due := (r.Parts.Waiting + r.Parts.OwnLag + r.Parts.Answer) / n
	if math.Abs(due-r.FromDue.Mean()/1e9) > 0.002*due || math.Abs(r.Parts.Answer/n-r.FromSent.Mean()/1e9) > 0.002*due {
		t.Errorf("parts %+v, since due %.4f s, since sent %.4f s", r.Parts, r.FromDue.Mean()/1e9, r.FromSent.Mean()/1e9)
	}
	if w := r.Parts.Waiting / n; w < 0.05 || r.Parts.OwnLag/n > 0.01 {
		t.Errorf("waited %.4f s for a connection, late by %.4f s", w, r.Parts.OwnLag/n)
	}
	if math.Abs(open/2.2-r.Open) > 0.1 {
		t.Errorf("%.2f open by the seconds, %.2f in all", open/2.2, r.Open)
	}
	slow := r.Slowest(0.01)
	if mean := (slow.Waiting + slow.OwnLag + slow.Answer) / float64(slow.N); slow.N == 0 || slow.N > r.Done/2 || mean < due {
		t.Errorf("the slowest: %+v, %.3f s on average of %.3f", slow, mean, due)
	}
	if len(r.Locals.Ports) != 2 || r.Locals.Host != "127.0.0.1" || r.Address != address || r.CPU <= 0 {
		t.Errorf("from %+v to %s, %.4f s CPU", r.Locals, r.Address, r.CPU)
	}
}

// A run that is interrupted is judged by the time that it had.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 400*time.Millisecond)
	defer cancel()
	p := plan(null(t, "tcp://127.0.0.1:1", Request{Size: 64, Reply: 64}))
	p.For = 10 * time.Second
	r, err := Run(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Took > time.Second || r.Done == 0 || r.Overloaded() {
		t.Errorf("took %v, %d answers, overloaded: %v", r.Took, r.Done, r.Overloaded())
	}
	if want := int64(r.Plan.Rate * r.Took.Seconds()); r.Sent+r.Behind < want-2 {
		t.Errorf("%d sent of %d", r.Sent, want)
	}
	r.Lag.Reset() // this machine may be busy
	r.Busy, r.RunDelay = 0, 0
	if why := r.Honest(); why != "" {
		t.Errorf("not the service's: %s", why)
	}
}
