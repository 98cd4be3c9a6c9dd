package verdict

import (
	"testing"

	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// acting is a proved cause that acts for a second from each of starts.
func acting(name string, confidence float64, starts ...float64) *candidate {
	return &candidate{
		suspect: &suspect.Suspect{Name: name, LeadsTo: []suspect.Lead{{To: scene.RequestLatency, Lag: 500e6}}},
		finding: suspect.Finding{Subject: process(7), Active: spansAt(1, starts...),
			Evidence: []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Source: source.Of(name)}}},
		confidence: confidence, onset: second(starts[0]),
	}
}

func felt7(starts ...float64) scene.Symptom {
	return scene.Symptom{Name: scene.RequestLatency, Subject: process(7), Onset: second(starts[0]), Active: spansAt(1, starts...), Share: 0.5, Held: 0.5}
}

func settled(t *testing.T, sym []scene.Symptom, found ...*candidate) {
	t.Helper()
	r := &recording.Recording{Manifest: recording.Manifest{Start: minute.Start, End: minute.End, SelfPID: 1}}
	g := connect(scene.Build(r), found, sym, nil)
	g.settle()
	v := &Verdict{Symptoms: sym}
	v.abstain(g, nil)
}

func TestTwoCausesOfOneSymptom(t *testing.T) {
	sym := felt7(3, 9, 16, 21, 28, 33, 39, 47, 50, 56)
	for _, x := range []struct {
		what string
		b    []float64
		want State
	}{
		{"each causes a part", []float64{20.8, 32.8, 46.8, 55.8}, Culprit},
		{"the second only where the first does", []float64{2.9, 15.9, 27.9, 38.9}, Contributing},
		{"the second hits two by chance", []float64{1, 6, 12, 18.5, 20.8, 24, 32.8, 36, 43, 53}, Contributing},
	} {
		a, b := acting("a", 0.95, 2.8, 8.8, 15.8, 27.8, 38.8, 49.8), acting("b", 0.8, x.b...)
		settled(t, []scene.Symptom{sym}, a, b)
		if a.state != Culprit || b.state != x.want && (x.want != Contributing || b.state != Risk) {
			t.Errorf("%s: a %s, b %s, want culprit and %s", x.what, a.state, b.state, x.want)
		}
	}
}

func TestTimeTellsTwoCausesApart(t *testing.T) {
	sym := felt7(3, 9, 16, 21, 28, 33, 39, 47)
	// Both explain it, b a little surer; the onsets fall on a.
	a, b := acting("a", 0.88, 2.8, 8.8, 15.8, 20.8, 27.8, 32.8, 38.8, 46.8), acting("b", 0.9, 1, 2, 3.5, 5, 7, 11, 13, 18, 19, 23, 25, 30, 31, 35, 37, 41, 43, 44, 50, 52, 54, 57)
	settled(t, []scene.Symptom{sym}, a, b)
	if a.state != Culprit || b.state == Culprit {
		t.Errorf("a %s, b %s: want a named alone", a.state, b.state)
	}
}

func TestALongCauseProvesNothingByTime(t *testing.T) {
	sym := felt7(3, 9, 16, 21, 28)
	long := acting("long", 0.9, 0)
	long.finding.Active = spansAt(59, 0.5)
	settled(t, []scene.Symptom{sym}, long)
	if long.state != Culprit { // it stands by its evidence, not by time
		t.Errorf("a cause that fills the window is %s", long.state)
	}
	if c := Coincide(long.finding.Active, starts(sym.Active), minute, 0); c.Telling() || c.Proves() || c.Refutes() {
		t.Errorf("%+v tells something", c)
	}
}

func TestACauseLaterThanItsEffectIsNeverARoot(t *testing.T) {
	sym := felt7(3, 9, 16, 21, 28, 33, 39, 47)
	// It hits seven of eight onsets, but the trouble was there before it.
	late := acting("late", 0.95, 8.8, 15.8, 20.8, 27.8, 32.8, 38.8, 46.8)
	settled(t, []scene.Symptom{sym}, late)
	if late.state != Risk {
		t.Errorf("a cause that began 6 s after its effect is %s", late.state)
	}
}
