package pool

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/suspect"
)

// logged weighs an upstream by an access log that was read as a file. A log is of hours:
// what counts is the time in which its requests were late (scene), and what their
// upstreams took just then. Requests that take long by design are not late.
func (d *dependency) logged(s *scene.Scene, r *recording.Recording) (suspect.Finding, bool) {
	pid := d.process.head.Subject.PID
	var late []recording.Interval
	for _, sym := range s.Symptoms {
		if sym.Name == scene.RequestLatency && sym.Subject.PID == pid && sym.Subject.Kind == recording.KindProcess {
			late = append(late, sym.Active...)
		}
	}
	late = intervals.Merge(late, 0)
	if len(late) == 0 {
		return suspect.Finding{}, false
	}
	own, all, mine := d.during(r, pid, late)
	if mine.N == 0 || own.N == 0 {
		return suspect.Finding{}, false
	}
	mean, usual := mine.Sum/float64(mine.N), d.usual(r, pid, late)
	share := all.Sum / own.Sum
	f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindPeer, Remote: d.remote}, Active: clipTo(d.active, late), Related: []recording.Subject{d.process.head.Subject}}
	from := d.process.turnsSource()
	if mean < longCall {
		if share < 0.5 && mine.N >= fewCalls {
			f.Text = fmt.Sprintf("%s answers %s quickly", d.remote, d.process.named())
			f.Evidence = []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: mean, Unit: "s", Source: from, Origin: "calls",
				Text: fmt.Sprintf("while requests were late it took %s on average, and all upstreams together %.0f %% of the requests' time: what is left is the way to the clients, or the service itself", units.Lasting(mean), 100*share)}}
			return f, true
		}
		return suspect.Finding{}, false
	}
	f.Text = fmt.Sprintf("%s waits for %s: %s per request on average while it is late, %s at the longest", d.process.named(), d.remote, units.Lasting(mean), units.Lasting(mine.Max))
	took := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: mean, Unit: "s", Source: from, Origin: "calls",
		Text: fmt.Sprintf("while requests were late %s to %s took %s on average, %s at the longest; the requests took %s: %.0f %% of their time passed at upstreams", units.Plural(int(mine.N), "call"), d.remote, units.Lasting(mean), units.Lasting(mine.Max), units.Lasting(own.Sum/float64(own.N)), 100*share)}
	if few := d.slowShare(r, pid, late); few < mostlySlow {
		took.Text += fmt.Sprintf("; %.1f %% of its answers took so long", 100*few)
	} else if share >= 1-agreeing && share <= 1+agreeing {
		took.Grade = suspect.Decisive
	}
	f.Evidence = append(f.Evidence, took)
	if usual > 0 {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: mean / usual, Unit: "times", Source: from, Origin: "calls", Text: fmt.Sprintf("otherwise it takes %s", units.Lasting(usual))})
	}
	f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: mean, Unit: "s", Text: fmt.Sprintf("%s of a late request's %s is the wait for %s", units.Lasting(min(mean, own.Sum/float64(own.N))), units.Lasting(own.Sum/float64(own.N)), d.remote)}
	f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("Find out what holds %s up (snag find there). In the service's configuration: a timeout below %s for it, and another upstream to go on with (proxy_next_upstream timeout).", d.remote, units.Lasting(mean))}
	f.Next = fmt.Sprintf("snag find --port %s   # on %s", recording.Port(d.remote), recording.Host(d.remote))
	return f, true
}

// fewCalls: fewer say nothing of an upstream.
const fewCalls = 20

// during sums up, in some time, the requests of a log, the calls to all upstreams, and
// those to this one.
func (d *dependency) during(r *recording.Recording, pid int, in []recording.Interval) (own, all, mine recording.Turns) {
	for _, t := range r.Turns {
		if t.PID != pid || !intervals.Cover(in, t.T) {
			continue
		}
		to := &own
		if t.Role == "call" {
			to = &all
			if t.Remote == d.remote {
				mine.N, mine.Sum, mine.Max = mine.N+t.N, mine.Sum+t.Sum, max(mine.Max, t.Max)
			}
		}
		to.N, to.Sum, to.Max = to.N+t.N, to.Sum+t.Sum, max(to.Max, t.Max)
	}
	return own, all, mine
}

// usual is how long it takes in the rest of the log; 0 where that tells nothing.
func (d *dependency) usual(r *recording.Recording, pid int, late []recording.Interval) float64 {
	n, sum := uint64(0), 0.0
	for _, t := range r.Turns {
		if t.PID == pid && t.Role == "call" && t.Remote == d.remote && !intervals.Cover(late, t.T) {
			n, sum = n+t.N, sum+t.Sum
		}
	}
	if n < fewCalls {
		return 0
	}
	return sum / float64(n)
}

// clipTo are the parts of intervals that lie in others; the others where none does.
func clipTo(all, in []recording.Interval) []recording.Interval {
	var out []recording.Interval
	for _, i := range in {
		out = append(out, intervals.Clip(all, i)...)
	}
	if len(out) == 0 {
		return in
	}
	return intervals.Merge(out, 0)
}

// mostlySlow: where fewer of an upstream's answers take long, it is a kind of request
// that does (a report), and not the upstream.
const mostlySlow = 0.1

// slowShare is how many of its answers took longCall and more in some time.
func (d *dependency) slowShare(r *recording.Recording, pid int, in []recording.Interval) float64 {
	slow, n := 0.0, 0.0
	for _, t := range r.Turns {
		if t.PID != pid || t.Role != "call" || t.Remote != d.remote || !intervals.Cover(in, t.T) {
			continue
		}
		for i, c := range t.Hist {
			n += float64(c)
			if recording.TurnBound(i+1) > longCall {
				slow += float64(c)
			}
		}
	}
	return slow / max(n, 1)
}
