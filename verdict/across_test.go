package verdict

import (
	"strings"
	"testing"

	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
)

// onHosts is a graph of one cause on an origin and the symptoms of others.
func onHosts(cause *candidate, others ...scene.Symptom) *graph {
	newHost := func(name string) *host {
		return &host{name: name, s: &scene.Scene{Window: minute}}
	}
	origin := newHost("origin-3")
	g := &graph{found: []*candidate{cause}, out: map[*candidate][]edge{}, in: map[*candidate][]edge{}}
	var where []*host
	for _, sym := range others {
		g.symptoms = append(g.symptoms, sym)
		where = append(where, newHost("transcoder"))
	}
	g.across(map[*candidate]*host{cause: origin}, where)
	return g
}

func TestFreezesOnThreeHostsAfterPausesOnAnother(t *testing.T) {
	pauses := acting("pause", 0.9, 3, 11, 17.5, 26, 31, 40.2, 52)
	for i := range pauses.finding.Active { // 300 ms each
		pauses.finding.Active[i].End = pauses.finding.Active[i].Start.Add(300e6)
	}
	g := onHosts(pauses, felt7(3.4, 17.8, 31.2, 52.1), felt7(3.3, 11.5, 26.4, 40.4), felt7(11.2, 17.9, 36, 52.4))
	edges := g.out[pauses]
	if len(edges) != 3 {
		t.Fatalf("%d edges, want one to each host: %+v", len(edges), edges)
	}
	text := edges[0].coincidence.String()
	if !strings.HasPrefix(text, "11 of 12, on 3 other hosts, begin within 1 s of it if their clocks agree; by chance") {
		t.Errorf("%q", text)
	}
	if !edges[2].coincidence.Proves() || len(edges[2].coincidence.hit) != 4 || edges[2].coincidence.hit[2] {
		t.Errorf("of the third host's own onsets the third fell on none: %+v", edges[2].coincidence)
	}
}

func TestWhatDoesNotFallTogetherIsNotJoined(t *testing.T) {
	pauses := acting("pause", 0.9, 3, 11, 17.5, 26)
	if g := onHosts(pauses, felt7(7, 14, 22, 30, 44, 50)); len(g.out[pauses]) > 0 {
		t.Error("freezes that have nothing to do with the pauses were joined with them")
	}
	if g := onHosts(pauses, felt7(3.4)); len(g.out[pauses]) > 0 {
		t.Error("one freeze after one of four pauses joins two hosts")
	}
	state := acting("pause", 0.9, 3)
	state.finding.Active = nil // it held for the whole window
	if g := onHosts(state, felt7(3.4, 11.3, 17.8)); len(g.out[state]) > 0 {
		t.Error("a state of the whole window joins two hosts")
	}
}

// A host that the pauses do not reach is not drawn in by two that they do.
func TestAHostThatIsNotConcernedStaysOut(t *testing.T) {
	pauses := acting("pause", 0.9, 3, 11, 17.5, 26, 31, 40.2, 52)
	for i := range pauses.finding.Active {
		pauses.finding.Active[i].End = pauses.finding.Active[i].Start.Add(300e6)
	}
	g := onHosts(pauses, felt7(3.4, 11.1, 17.8, 31.2, 52.1), felt7(3.3, 11.5, 26.4, 40.4), felt7(7, 22, 47))
	for _, e := range g.out[pauses] {
		if e.symptom == 2 {
			t.Errorf("joined: %s", e.coincidence)
		}
	}
	if len(g.out[pauses]) != 2 {
		t.Errorf("%d edges, want 2", len(g.out[pauses]))
	}
}

// What is settled of several hosts is said once, with where it was measured.
func TestSettledOfSeveralHosts(t *testing.T) {
	sus := acting("x", 1, 1).suspect
	hosts := []*host{
		{name: "a", settled: []Entry{{Suspect: sus, State: NotSeen, Text: "not measured"}}},
		{name: "b", settled: []Entry{{Suspect: sus, State: Cleared, Text: "measured, and nothing speaks for it"}}},
	}
	out := settleHosts(hosts, []*suspect.Suspect{sus})
	if len(out) != 1 || out[0].State != Cleared || out[0].Text != "measured, and nothing speaks for it (on b; not measured on a)" {
		t.Errorf("%+v", out)
	}
	hosts[1].found = []*candidate{{suspect: sus, finding: acting("x", 1, 1).finding}}
	if out := settleHosts(hosts, []*suspect.Suspect{sus}); len(out) != 0 {
		t.Errorf("found on one host, and said again: %+v", out)
	}
}

// Whose words name nobody's subject may be about any host.
func TestAReportOfNoSubjectIsOneSymptom(t *testing.T) {
	report := scene.Symptom{Name: Reported, Reported: true, Text: "reported: slow", Subject: recording.Subject{Kind: recording.KindHost}}
	g := &graph{out: map[*candidate][]edge{}, in: map[*candidate][]edge{}}
	a, b := acting("a", 0.9, 1), acting("b", 0.9, 2)
	for _, c := range []*candidate{a, b} {
		g.take(&graph{found: []*candidate{c}, symptoms: []scene.Symptom{report}, out: map[*candidate][]edge{c: {{from: c, symptom: 0}}}})
	}
	if len(g.symptoms) != 1 || g.out[b][0].symptom != 0 {
		t.Errorf("%d symptoms, b leads to %d", len(g.symptoms), g.out[b][0].symptom)
	}
}
