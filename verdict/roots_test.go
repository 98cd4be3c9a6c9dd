package verdict

import (
	"strings"
	"testing"
	"time"

	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// process is a subject that touches itself and nothing else.
func process(pid int) recording.Subject {
	return recording.Subject{Kind: recording.KindProcess, PID: pid, Comm: "p"}
}

type fake struct {
	name     string
	pid      int
	leads    []string
	from     float64 // seconds into the window; the finding acts for 5 s
	harm     float64 // datagrams
	evidence []suspect.Evidence
}

func (f fake) suspect() *suspect.Suspect {
	s := &suspect.Suspect{Name: f.name, Title: f.name, Next: "look at " + f.name}
	for _, l := range f.leads {
		s.LeadsTo = append(s.LeadsTo, suspect.Lead{To: l, Lag: 5 * time.Second})
	}
	s.Weigh = func(*scene.Scene, *recording.Recording) []suspect.Finding {
		e := f.evidence
		if e == nil {
			e = []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Source: source.Of(f.name)}}
		}
		return []suspect.Finding{{
			Subject: process(f.pid), Evidence: e, Active: spansAt(5, f.from),
			Harm: suspect.Harm{Symptom: scene.DatagramsLost, Amount: f.harm, Unit: "datagrams"},
		}}
	}
	return s
}

func judged(t *testing.T, all ...fake) (*Verdict, map[string]Entry) {
	t.Helper()
	r := &recording.Recording{Manifest: recording.Manifest{Start: minute.Start, End: minute.End, SelfPID: 1}}
	var list []*suspect.Suspect
	for _, f := range all {
		list = append(list, f.suspect())
	}
	v := judge(r, list)
	by := map[string]Entry{}
	for _, e := range v.Entries {
		by[e.Suspect.Name] = e
	}
	return v, by
}

func TestConsequenceIsExplainedByItsRoot(t *testing.T) {
	_, by := judged(t,
		fake{name: "stop", pid: 7, leads: []string{"buffer"}, from: 10},
		fake{name: "buffer", pid: 7, from: 11, harm: 1000})
	if by["stop"].State != Culprit || by["buffer"].State != Consequence || by["buffer"].ExplainedBy != by["stop"].ID {
		t.Errorf("stop %s, buffer %s explained by %q", by["stop"].State, by["buffer"].State, by["buffer"].ExplainedBy)
	}
	if c := by["stop"].Chain; len(c) != 3 || c[1].Name != "buffer" || c[2].Name != scene.DatagramsLost {
		t.Errorf("chain %+v", c)
	}
}

func TestCauseAfterItsEffectIsNoRoot(t *testing.T) {
	_, by := judged(t,
		fake{name: "stop", pid: 7, leads: []string{"buffer"}, from: 30},
		fake{name: "buffer", pid: 7, from: 11, harm: 1000})
	if by["buffer"].State != Culprit || by["stop"].State != Risk {
		t.Errorf("buffer %s, stop %s: want culprit and risk", by["buffer"].State, by["stop"].State)
	}
}

func TestUnrelatedSubjectsAreNotJoined(t *testing.T) {
	_, by := judged(t,
		fake{name: "stop", pid: 8, leads: []string{"buffer"}, from: 10},
		fake{name: "buffer", pid: 7, from: 11, harm: 1000})
	if by["buffer"].State != Culprit || by["stop"].State != Risk {
		t.Errorf("buffer %s, stop %s: want culprit and risk", by["buffer"].State, by["stop"].State)
	}
}

func TestTwoCausesAreBothNamed(t *testing.T) {
	_, by := judged(t,
		fake{name: "a", pid: 7, from: 10, harm: 1000},
		fake{name: "b", pid: 8, from: 20, harm: 500})
	if by["a"].State != Culprit || by["b"].State != Culprit {
		t.Errorf("a %s, b %s", by["a"].State, by["b"].State)
	}
}

func TestNoHarmIsARisk(t *testing.T) {
	v, by := judged(t, fake{name: "a", pid: 7, from: 10})
	if by["a"].State != Risk || len(v.Symptoms) != 0 || v.Abstained != "" {
		t.Errorf("a %s, symptoms %v, abstained %q", by["a"].State, v.Symptoms, v.Abstained)
	}
}

func TestHarmThatNobodyFeelsIsARisk(t *testing.T) {
	if _, by := judged(t, fake{name: "a", pid: 7, from: 10, harm: 3}); by["a"].State != Risk {
		t.Errorf("three datagrams: %s", by["a"].State)
	}
}

func TestLoopIsBrokenAtTheLaterCause(t *testing.T) {
	_, by := judged(t,
		fake{name: "a", pid: 7, leads: []string{"b"}, from: 10, harm: 100},
		fake{name: "b", pid: 7, leads: []string{"a"}, from: 11})
	if by["a"].State != Culprit && by["b"].State != Culprit {
		t.Errorf("a loop left no root: a %s, b %s", by["a"].State, by["b"].State)
	}
	if by["a"].State == Consequence && by["b"].State == Consequence {
		t.Error("both are consequences of each other")
	}
}

func TestUnprovenIsNotSeenWithTheNextMeasurement(t *testing.T) {
	_, by := judged(t, fake{name: "a", pid: 7, from: 10, harm: 1000,
		evidence: []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Source: source.Of("x")}}})
	if by["a"].State != NotSeen || by["a"].Next != "look at a" {
		t.Errorf("a %s, next %q", by["a"].State, by["a"].Next)
	}
}

func TestObserverMakesTheVerdictAbstain(t *testing.T) {
	strong := []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Source: source.Of("x")}, {Side: suspect.For, Grade: suspect.Strong, Source: source.Of("y")}}
	v, by := judged(t,
		fake{name: "observer", pid: 1, from: 1},
		fake{name: "a", pid: 7, from: 10, harm: 1000, evidence: strong})
	if by["a"].State == Culprit || v.Abstained == "" || v.Entries[0].Suspect.Name != "observer" {
		t.Errorf("a %s, abstained %q, first %s", by["a"].State, v.Abstained, v.Entries[0].Suspect.Name)
	}
	_, by = judged(t,
		fake{name: "observer", pid: 1, from: 1},
		fake{name: "a", pid: 7, from: 10, harm: 1000})
	if by["a"].State != Culprit || by["observer"].State == Culprit {
		t.Errorf("what the kernel counted stands: a %s, observer %s", by["a"].State, by["observer"].State)
	}
}

func TestSnagItselfIsNotAccused(t *testing.T) {
	if _, by := judged(t, fake{name: "a", pid: 1, from: 10, harm: 1000}); by["a"].State != Cleared {
		t.Errorf("snag was accused: %s", by["a"].State)
	}
}

func TestRivalsAreNotToldApart(t *testing.T) {
	strong := func(n string) []suspect.Evidence {
		return []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Source: source.Of(n + "1")}, {Side: suspect.For, Grade: suspect.Strong, Source: source.Of(n + "2")}}
	}
	v, by := judged(t,
		fake{name: "a", pid: 7, leads: []string{scene.DatagramsLost}, from: 10, evidence: strong("a")},
		fake{name: "b", pid: 7, leads: []string{scene.DatagramsLost}, from: 10, evidence: strong("b")},
		fake{name: "effect", pid: 7, from: 11, harm: 900, evidence: strong("e")})
	_ = by
	if len(v.With(Culprit)) != 1 || v.With(Culprit)[0].Suspect.Name != "effect" {
		t.Errorf("what measured its own harm stands: %v", v.With(Culprit))
	}
	r := &recording.Recording{Manifest: recording.Manifest{Start: minute.Start, End: minute.End}}
	sc := scene.Build(r)
	found, _ := weighAll(sc, r, nil, nil, nil, []*suspect.Suspect{
		fake{name: "a", pid: 7, leads: []string{scene.DatagramsLost}, from: 0, evidence: strong("a")}.suspect(),
		fake{name: "b", pid: 7, leads: []string{scene.DatagramsLost}, from: 0, evidence: strong("b")}.suspect(),
	})
	v = &Verdict{Symptoms: []scene.Symptom{{Name: scene.DatagramsLost, Subject: process(7), Onset: minute.Start, Share: 1, Held: 1}}}
	g := connect(sc, found, v.Symptoms, nil)
	g.settle()
	v.abstain(g, nil)
	if someCulprit(g) || !strings.Contains(v.Abstained, "nothing distinguishes them") || v.Next == "" {
		t.Errorf("abstained %q, next %q", v.Abstained, v.Next)
	}
}

// Two connections to one place that wait for the same are not two causes.
func TestConnectionsToOnePlace(t *testing.T) {
	r := &recording.Recording{Manifest: recording.Manifest{Start: minute.Start, End: minute.End}}
	sc := scene.Build(r)
	evidence := []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Source: source.Of("1")}, {Side: suspect.For, Grade: suspect.Strong, Source: source.Of("2")}}
	for remote, apart := range map[string]bool{"10.0.0.1:80": false, "": true} {
		found, _ := weighAll(sc, r, nil, nil, nil, []*suspect.Suspect{
			fake{name: "a", pid: 7, leads: []string{scene.DatagramsLost}, evidence: evidence}.suspect(),
			fake{name: "b", pid: 7, leads: []string{scene.DatagramsLost}, evidence: evidence}.suspect(),
		})
		for _, c := range found {
			c.suspect, c.finding.Subject.Remote = found[0].suspect, remote
		}
		v := &Verdict{Symptoms: []scene.Symptom{{Name: scene.DatagramsLost, Subject: process(7), Onset: minute.Start, Share: 1, Held: 1}}}
		g := connect(sc, found, v.Symptoms, nil)
		g.settle()
		v.abstain(g, nil)
		if someCulprit(g) == apart || (v.Abstained != "") != apart {
			t.Errorf("to %q: abstained %q", remote, v.Abstained)
		}
	}
}

func TestWordsAloneAccuseNobody(t *testing.T) {
	r := &recording.Recording{Manifest: recording.Manifest{Start: minute.Start, End: minute.End, Symptoms: []string{"loss on the stream"}}}
	for harm, want := range map[float64]State{0: Contributing, 500: Culprit} {
		v := judge(r, []*suspect.Suspect{fake{name: "a", pid: 7, leads: []string{scene.DatagramsLost}, from: 0, harm: harm}.suspect()})
		if v.Entries[0].State != want {
			t.Errorf("harm %g: %s, want %s", harm, v.Entries[0].State, want)
		}
		if want != Culprit && v.Abstained == "" {
			t.Error("a reported symptom without a culprit was not told")
		}
	}
}

// A cause that leads to another suspect while nobody feels anything.
func TestNoSymptomAtAll(t *testing.T) {
	cause, effect := &candidate{suspect: &suspect.Suspect{Name: "cause"}}, &candidate{suspect: &suspect.Suspect{Name: "effect"}}
	g := &graph{scene: &scene.Scene{}, found: []*candidate{cause, effect}, out: map[*candidate][]edge{cause: {{from: cause, to: effect, symptom: -1}}}, in: map[*candidate][]edge{effect: {{from: cause, to: effect, symptom: -1}}}}
	if g.toldInTime(cause) {
		t.Error("nobody told anything")
	}
}
