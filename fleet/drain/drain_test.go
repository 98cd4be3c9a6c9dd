package drain

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"snag/fleet/drain/health"
	"snag/fleet/drain/plan"
)

const (
	batch1 = "out a, stop a, start a, in a"
	batch2 = "out b, out c, stop b, start b, stop c, start c, in b, in c"
	batch3 = "out d, stop d, start d, in d"
	all    = batch1 + ", " + batch2 + ", " + batch3
)

func TestTheOrder(t *testing.T) {
	w := newWorld(t, four)
	if s := w.drain(t.Context(), How{}); s != nil {
		t.Fatal(s.describe())
	}
	w.want(all)
	// It was finished: the next one begins from the first peer.
	if s := w.drain(t.Context(), How{}); s != nil {
		t.Fatal(s.describe())
	}
	w.want(all + ", " + all)
}

// check is what one check says.
func check(failed, late string) health.Seen {
	return health.Seen{Checks: []health.Check{{Name: "site", Failed: failed, Late: late}}}
}

// After harm no peer is begun. What is in progress is finished, or returned as it was.
func TestHarmStopsIt(t *testing.T) {
	for name, c := range map[string]struct{ at, want, end, resumed string }{
		"before its restart": {"out b", batch1 + ", out b, in b", "left [b c d]", "out b, out c"},
		"in its restart":     {"stop b", batch1 + ", out b, out c, stop b, start b, in b, in c", "left [c d]", "out c, stop c"},
		"after it":           {"in c", batch1 + ", " + batch2, "left [d]", batch3},
		"after the canary":   {"in a", batch1, "left [b c d]", "out b"},
	} {
		w := newWorld(t, four)
		hurt := false
		w.command = func(text string) error {
			if text == c.at {
				hurt = true
				time.Sleep(150 * time.Millisecond) // the next look is due
			}
			return nil
		}
		w.look = func() health.Seen {
			if hurt {
				return check("two viewers left", "")
			}
			return check("", "")
		}
		s := w.drain(t.Context(), How{})
		if s == nil || s.Why != Hurts || !strings.Contains(s.describe(), "out [], "+c.end) || !strings.Contains(s.Error(), "check site fails: two viewers left") {
			t.Errorf("%s: %s", name, s.describe())
			continue
		}
		w.want(c.want)
		// While it hurts still, nothing is begun again.
		if s = w.drain(t.Context(), How{Resume: true}); s == nil || s.Why != Hurts {
			t.Errorf("%s: %s", name, s.describe())
		}
		w.want(c.want)
		c.at, hurt = "", false
		if s = w.drain(t.Context(), How{Resume: true}); s != nil || !strings.HasPrefix(w.did(), c.want+", "+c.resumed) || !strings.HasSuffix(w.did(), batch3) {
			t.Errorf("%s: %s: %s", name, s.describe(), w.did())
		}
	}
}

func TestHarmIsLeftAsItIsWhereThePlanSaysSo(t *testing.T) {
	w := newWorld(t, four+"on_hurt: leave\n")
	w.command = func(text string) error {
		if text == "stop b" {
			return errors.New("exit status 1: unit not found")
		}
		return nil
	}
	s := w.drain(t.Context(), How{})
	if !strings.Contains(s.describe(), "hurts batch 2 restart b: stop b: exit status 1: unit not found; out [b c], left [d]") {
		t.Error(s.describe())
	}
	w.want(batch1 + ", out b, out c, stop b")
	w.command = nil
	if s := w.drain(t.Context(), How{Resume: true}); s != nil { // what failed is known to have ended: it is run again
		t.Error(s.describe())
	}
	w.want(batch1 + ", out b, out c, stop b, stop b, start b, stop c, start c, in b, in c, " + batch3)
}

// A peer that does not come back stays out of service; those beside it are returned.
func TestAPeerThatDoesNotComeBack(t *testing.T) {
	w := newWorld(t, four)
	w.ready = func(address string) error {
		if address == "10.0.0.2:80" {
			return errors.New("connect to 10.0.0.2:80: connection refused")
		}
		return nil
	}
	s := w.drain(t.Context(), How{})
	if !strings.Contains(s.describe(), "hurts batch 2 ready b: it did not come back within 100ms: connect to 10.0.0.2:80: connection refused; out [b], left [d]") {
		t.Error(s.describe())
	}
	w.want(batch1 + ", out b, out c, stop b, start b, stop c, start c, in c")
	w.ready = nil
	if s := w.drain(t.Context(), How{Resume: true}); s != nil {
		t.Error(s.describe())
	}
	w.want(batch1 + ", out b, out c, stop b, start b, stop c, start c, in c, in b, " + batch3)
}

func TestConnectionsThatStay(t *testing.T) {
	stay := func(address string) (float64, error) {
		if address == "10.0.0.1:80" {
			return 12, nil
		}
		return 0, nil
	}
	w := newWorld(t, four)
	w.left = stay
	if s := w.drain(t.Context(), How{}); !strings.Contains(s.describe(), "hurts batch 1 leave a: 12 connections left after 100ms, and the plan allows 0; out [], left [a b c d]") {
		t.Error(s.describe())
	}
	w.want("out a, in a")

	w = newWorld(t, strings.Replace(four, "timeout: 100ms}", "timeout: 100ms, then: go-on}", 1))
	w.left = stay
	if s := w.drain(t.Context(), How{}); s != nil {
		t.Error(s.describe())
	}
	w.want(all)

	w = newWorld(t, strings.Replace(four, "timeout: 100ms}", "timeout: 100ms, most: 12}", 1))
	w.left = stay
	if s := w.drain(t.Context(), How{}); s != nil {
		t.Error(s.describe())
	}

	// Not counted is not zero, and go-on is for those that were counted.
	w = newWorld(t, strings.Replace(four, "timeout: 100ms}", "timeout: 100ms, then: go-on}", 1))
	w.left = func(string) (float64, error) { return 0, errors.New("no handler") }
	if s := w.drain(t.Context(), How{}); !strings.Contains(s.describe(), "not known batch 1 leave a: its connections could not be counted within 100ms: no handler; out [], left [a") {
		t.Error(s.describe())
	}
	w.want("out a, in a")
}

// A check that does not answer is never healthy: the drain waits, and then stops for that reason.
func TestHealthThatNeverAnswers(t *testing.T) {
	w := newWorld(t, four)
	w.look = func() health.Seen { return check("", "no answer within 1s") }
	begun := time.Now()
	s := w.drain(t.Context(), How{})
	if !strings.Contains(s.describe(), "not known batch 0  : whether all is healthy is not known for 300ms; check site: no answer within 1s; out [], left [a b c d]") {
		t.Error(s.describe())
	}
	if took := time.Since(begun); took < 300*time.Millisecond || took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	w.want("")

	w = newWorld(t, four) // from the second batch on
	w.look = func() health.Seen {
		if strings.Contains(w.did(), "stop b") {
			return check("", "no answer within 1s")
		}
		return check("", "")
	}
	if s := w.drain(t.Context(), How{}); s == nil || s.Why != Unknown || !strings.Contains(s.describe(), "left [d]") {
		t.Error(s.describe())
	}
	w.want(batch1 + ", " + batch2)

	w = newWorld(t, four) // for a moment: it waits, and goes on
	looks := 0
	w.look = func() health.Seen {
		if looks++; looks < 3 {
			return check("", "no answer within 1s")
		}
		return check("", "")
	}
	if s := w.drain(t.Context(), How{}); s != nil {
		t.Error(s.describe())
	}
	w.want(all)
}

// A host that was affected before is no harm; one that becomes so is, unless it is being drained itself.
func TestHostsOfTheStore(t *testing.T) {
	for victim, want := range map[string]string{
		"web": "hurts batch 2  : host web is affected",
		"b":   "not known batch 2  : whether all is healthy is not known for 300ms; host b is affected: freeze of live, after its restart",
	} {
		w := newWorld(t, four)
		w.look = func() health.Seen {
			fleet := health.Baseline{"old": {Affected: true}, "web": {}, "b": {}}
			if strings.Contains(w.did(), "start c") {
				fleet[victim] = health.Host{Affected: true, Symptoms: []string{"freeze of live"}}
			}
			return health.Seen{Fleet: fleet}
		}
		w.ready = func(string) error { time.Sleep(110 * time.Millisecond); return nil }
		s := w.drain(t.Context(), How{})
		if !strings.Contains(s.describe(), want) || !strings.Contains(s.describe(), "out [], left [d]") {
			t.Errorf("%s: %s", victim, s.describe())
		}
		w.want(batch1 + ", " + batch2)
	}
}

// A signal ends it without a peer that is left out of service.
func TestASignal(t *testing.T) {
	for at, want := range map[string]string{
		"out a":   "out a, in a",
		"stop a":  batch1,
		"start b": batch1 + ", out b, out c, stop b, start b, in b, in c",
		"in b":    batch1 + ", " + batch2,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		w := newWorld(t, four)
		w.command = func(text string) error {
			if text == at {
				cancel()
			}
			return nil
		}
		s := w.drain(ctx, How{})
		if s == nil || s.Why != Signal || len(s.Out) != 0 {
			t.Errorf("%s: %s", at, s.describe())
		}
		w.want(want)
		if s := w.drain(t.Context(), How{Resume: true}); s != nil {
			t.Errorf("%s: %s", at, s.describe())
		}
		cancel()
	}
}

// Maintenance without commands to restart: it is done once the peer was out of service.
func TestWithoutARestart(t *testing.T) {
	text := strings.Replace(four, `restart: [{run: [stop, "{name}"]}, {run: [start, "{name}"]}]`+"\n", "", 1)
	w := newWorld(t, text)
	w.left = func(string) (float64, error) { return 1, nil }
	if s := w.drain(t.Context(), How{}); !strings.Contains(s.describe(), "left [a b c d]") {
		t.Error(s.describe())
	}
	w.left = nil
	if s := w.drain(t.Context(), How{Resume: true}); s != nil {
		t.Error(s.describe())
	}
	w.want("out a, in a, out a, in a, out b, out c, in b, in c, out d, in d")
}

func TestThePauseHasJitter(t *testing.T) {
	w := newWorld(t, four+"pause: 20ms\njitter: 50ms\n")
	if s := w.drain(t.Context(), How{}); s != nil {
		t.Fatal(s.describe())
	}
	var pauses []float64
	for _, e := range w.events {
		if e.Event == EvPause {
			pauses = append(pauses, e.Seconds)
		}
	}
	if len(pauses) != 2 || pauses[0] < 0.02 || pauses[0] > 0.07 || pauses[0] == pauses[1] {
		t.Errorf("%v", pauses)
	}
}

// What a dry run shows is what is then done.
func TestTheDryRunIsWhatIsDone(t *testing.T) {
	w := newWorld(t, four)
	var dry []string
	for _, e := range Dry(w.plan, func(a plan.Action, _ plan.Phase) string { return strings.Join(a.Run, " ") }) {
		if e.Event == EvDid {
			dry = append(dry, e.Text)
		}
	}
	if s := w.drain(t.Context(), How{}); s != nil {
		t.Fatal(s.describe())
	}
	w.want(strings.Join(dry, ", "))
}
