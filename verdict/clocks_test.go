package verdict

import (
	"strings"
	"testing"

	"snag/recording"
	"snag/scene"
)

// withClocks is a graph of a cause on one host and symptoms on another, whose clocks are
// known within so many seconds.
func withClocks(cause *candidate, bound float64, other scene.Symptom) *graph {
	on := func(name string, clock *recording.HostClock) *host {
		return &host{name: name, s: &scene.Scene{Window: minute}, r: &recording.Recording{Manifest: recording.Manifest{Host: name, Clock: clock}}}
	}
	g := &graph{found: []*candidate{cause}, symptoms: []scene.Symptom{other}, out: map[*candidate][]edge{}, in: map[*candidate][]edge{}}
	origin := on("origin-3", &recording.HostClock{Of: "origin-3"})
	g.across(map[*candidate]*host{cause: origin}, []*host{on("transcoder", &recording.HostClock{Of: "origin-3", Bound: bound})})
	return g
}

func pausesOf300ms() *candidate {
	pauses := acting("pause", 0.9, 3, 11, 17.5, 26, 31, 40.2, 52)
	for i := range pauses.finding.Active {
		pauses.finding.Active[i].End = pauses.finding.Active[i].Start.Add(300e6)
	}
	return pauses
}

// A known doubt of the clocks widens what counts as together: effects that seem to come
// before their cause by less than that are not lost.
func TestClocksKnownWithinSomething(t *testing.T) {
	before := felt7(2.7, 10.8, 17.1, 25.8, 30.6, 40.1, 51.8) // by up to 0.4 s
	pauses := pausesOf300ms()
	if g := withClocks(pauses, 0.45, before); len(g.out[pauses]) != 1 {
		t.Errorf("%d edges, want one", len(g.out[pauses]))
	} else if text := g.out[pauses][0].coincidence.String(); !strings.Contains(text, "7 of 7, on another host") && !strings.Contains(text, "7 of 7, on 1 other") || !strings.Contains(text, "(their clocks are known within 450 ms)") {
		t.Errorf("%q", text)
	}
	pauses = pausesOf300ms()
	if g := withClocks(pauses, 0.001, before); len(g.out[pauses]) != 0 {
		t.Error("effects before their cause by more than the clocks' doubt were joined")
	}
}

// What another cause explains is none to look at: that the clocks leave open where else it leads is nobody's question.
func TestADoubtOfWhatIsExplainedIsNotSaid(t *testing.T) {
	pauses, root := pausesOf300ms(), acting("root", 0.9, 3)
	g := withClocks(pauses, 5, felt7(3.4, 11.2, 17.8, 26.1, 31.2, 40.5, 52.1))
	g.doubts = nil
	g.in[pauses] = []edge{{from: root, to: pauses, symptom: -1}}
	g.cantTell(pauses, "a freeze", 5e9)
	if len(g.doubts) != 0 {
		t.Errorf("%q", g.doubts)
	}
	delete(g.in, pauses)
	if g.cantTell(pauses, "a freeze", 5e9); len(g.doubts) != 1 {
		t.Errorf("%q", g.doubts)
	}
}

// A doubt that is longer than the pattern leaves nothing that time could prove, and the
// verdict says so.
func TestClocksKnownTooBadly(t *testing.T) {
	pauses := pausesOf300ms()
	g := withClocks(pauses, 5, felt7(3.4, 11.2, 17.8, 26.1, 31.2, 40.5, 52.1))
	if len(g.out[pauses]) != 0 {
		t.Errorf("joined: %s", g.out[pauses][0].coincidence)
	}
	if len(g.doubts) != 1 || !strings.Contains(g.doubts[0], "known within 5 s only") || !strings.Contains(g.doubts[0], "can't tell") {
		t.Errorf("%q", g.doubts)
	}
	if g := withClocks(pauses, 0.01, felt7(3.4, 11.2, 17.8, 26.1, 31.2, 40.5, 52.1)); len(g.out[pauses]) != 1 || len(g.doubts) != 0 {
		t.Errorf("%d edges, %q", len(g.out[pauses]), g.doubts)
	}
}
