package watch

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var epoch = time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)

// play asks for each step of a script: "0s cam1" asks for cam1 at 0 s, "5s cam1
// well" says that its freeze ended. It returns what was decided.
func play(g *Guard, script string) []string {
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(script), "\n") {
		f := strings.Fields(line)
		at, err := time.ParseDuration(f[0])
		if err != nil {
			panic(err)
		}
		if len(f) == 3 {
			g.Well(f[1], epoch.Add(at))
			continue
		}
		d := ask(g, f[1], epoch.Add(at))
		switch {
		case d.Act:
			out = append(out, f[0]+" act")
		case d.Broken:
			out = append(out, f[0]+" broken")
		default:
			out = append(out, fmt.Sprintf("%s not before %s", f[0], d.Next.Sub(epoch)))
		}
	}
	return out
}

// ask asks for an action for one stream, and takes it where it may be.
func ask(g *Guard, stream string, now time.Time) Decision {
	g.Sick(stream, now)
	d := g.One(stream, now)
	if d.Act {
		d = g.All(now)
	}
	if d.Act {
		g.Acted([]string{stream}, now)
	}
	return d
}

func TestGuard(t *testing.T) {
	l := Limits{Least: 30 * time.Second, Most: 5 * time.Minute, PerMinute: 3, Tries: 3, Within: 30 * time.Minute, AllTries: 6, Heals: 2 * time.Minute}
	for name, c := range map[string]struct{ script, want string }{
		"a freeze that stands is tried again, later and later, and then no more": {`
0s a
10s a
30s a
60s a
90s a
91s a
200s a`, `0s act
10s not before 30s
30s act
60s not before 1m30s
90s act
91s broken
200s not before 30m0s`},
		"a restart that makes the next freeze is a loop, though each freeze ends": {`
0s a
5s a well
20s a
30s a
35s a well
60s a
95s a
100s a well
150s a`, `0s act
20s not before 30s
30s act
60s not before 1m30s
95s act
150s broken`},
		"a stream that stays well begins anew": {`
0s a
30s a
40s a well
160s a
161s a`, `0s act
30s act
160s act
161s not before 3m10s`},
		"the breaker closes once an action is old enough": {`
0s a
30s a
90s a
100s a
1801s a`, `0s act
30s act
90s act
100s broken
1801s act`},
		"one server's stall is not an action for each of its streams": {`
0s a
0s b
0s c
0s d
59s d
60s d`, `0s act
0s act
0s act
0s not before 1m0s
59s not before 1m0s
60s act`},
		"what helps nobody stops for all": {`
0s a
0s b
0s c
60s d
60s e
60s f
120s g
121s h`, `0s act
0s act
0s act
60s act
60s act
60s act
120s broken
121s not before 30m0s`},
	} {
		if got := strings.Join(play(NewGuard(l), c.script), "\n"); got != c.want {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// Whatever freezes and thaws, no restart loop can be made: over any half hour no
// stream has more than Tries actions that did not make it well, and no minute more
// than PerMinute.
func TestGuardHoldsWhateverHappens(t *testing.T) {
	l := DefaultLimits
	l.Heals = 24 * time.Hour // nothing is ever well for good
	for seed := range uint64(20) {
		g := NewGuard(l)
		var acts []time.Time
		state := seed*2654435761 + 1
		for s := range 3600 * 3 {
			now := epoch.Add(time.Duration(s) * time.Second)
			state = state*6364136223846793005 + 1442695040888963407
			name := fmt.Sprint("s", state>>60)
			if state>>40&7 == 0 {
				g.Well(name, now)
			} else if ask(g, name, now).Act {
				acts = append(acts, now)
			}
		}
		for i := range acts {
			if n := later(acts[:i+1], acts[i].Add(-time.Minute)); n > l.PerMinute {
				t.Fatalf("%d actions in a minute", n)
			}
		}
		for i := range acts {
			if n := later(acts[:i+1], acts[i].Add(-l.Within)); n > l.AllTries {
				t.Fatalf("%d actions in %s that did not help", n, l.Within)
			}
		}
		if len(acts) == 0 {
			t.Fatal("nothing was done at all")
		}
	}
}

func later(times []time.Time, than time.Time) (n int) {
	for _, t := range times {
		if t.After(than) {
			n++
		}
	}
	return n
}

// One action for many streams is one of the limits over all, and one of each of
// theirs; it has helped once all of them are well.
func TestGuardOfGroups(t *testing.T) {
	l := Limits{Least: 30 * time.Second, Most: 5 * time.Minute, PerMinute: 2, Tries: 9, Within: 30 * time.Minute, AllTries: 2, Heals: 2 * time.Minute}
	g := NewGuard(l)
	at := func(s int) time.Time { return epoch.Add(time.Duration(s) * time.Second) }
	act := func(s int, streams ...string) {
		for _, name := range streams {
			g.Sick(name, at(s))
		}
		g.Acted(streams, at(s))
	}
	act(0, "a", "b", "c", "d", "e")
	if d := g.All(at(1)); !d.Act {
		t.Fatalf("five streams of one action are five: %s", d.Why)
	}
	for _, name := range []string{"a", "e"} {
		if d := g.One(name, at(1)); d.Act || d.Next != at(30) {
			t.Errorf("%s: %+v", name, d)
		}
	}
	act(1, "f")
	if d := g.All(at(2)); d.Act || d.Limit == "" {
		t.Errorf("a third action in a minute, of two that may be: %+v", d)
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		g.Well(name, at(10))
	}
	g.Sweep(at(200))
	if d := g.All(at(200)); d.Act {
		t.Error("an action has helped where one of its streams is still frozen")
	}
	g.Well("e", at(201))
	g.Sweep(at(400))
	if d := g.All(at(400)); !d.Act {
		t.Errorf("an action that helped counts as one that did not: %s", d.Why)
	}
}

func TestGuardForgets(t *testing.T) {
	g := NewGuard(DefaultLimits)
	for i := range 5000 {
		ask(g, fmt.Sprint("cam", i), epoch)
	}
	g.Sweep(epoch.Add(2 * time.Hour))
	if len(g.streams) != 0 {
		t.Errorf("%d streams are remembered for ever", len(g.streams))
	}
}

func TestBackoff(t *testing.T) {
	var b backoff
	var got []time.Duration
	for range 7 {
		got = append(got, b.next(0.999999).Round(time.Second))
	}
	if want := "[1s 2s 4s 8s 16s 30s 30s]"; fmt.Sprint(got) != want {
		t.Errorf("waits of %v", got)
	}
	if low := (&backoff{}).next(0); low != firstWait/2 {
		t.Errorf("at the least %v", low)
	}
	short := backoff{failed: 9, most: 2 * time.Second}
	if w := short.next(0.999999).Round(time.Second); w != 2*time.Second {
		t.Errorf("of a short recording %v", w)
	}
	b.steady(steadyAfter - 1)
	if b.next(0) < mostWait/2 {
		t.Error("a stream that is thrown out at once is asked each second")
	}
	b.steady(steadyAfter)
	if b.next(0.999999) > firstWait {
		t.Error("a stream that was read for long waits as if it never was")
	}
}
