package lab

import (
	"strings"
	"testing"
)

const guilty = `{"version":2,
 "symptoms":[{"name":"datagrams-lost","subject":{"kind":"socket","name":"rtp-sink[9] on 10.0.0.2:5004"},"severity":0.4}],
 "verdict":[
  {"suspect":"udp-receive-buffer-full","state":"culprit","subject":{"kind":"socket","name":"rtp-sink[9] on 10.0.0.2:5004"},"confidence":0.9},
  {"suspect":"netfilter-drop","state":"culprit","subject":"rule in snaglab1-rx","confidence":0.5},
  {"suspect":"cpu-throttled","state":"risk","subject":{"kind":"cgroup","cgroup":"/batch"}},
  {"suspect":"observer","state":"cleared"}]}`

func TestScore(t *testing.T) {
	innocent := strings.ReplaceAll(guilty, `"culprit"`, `"cleared"`)
	udp := Want{Suspect: "udp-receive-buffer-full", Subject: "rtp-sink"}
	with := func(w Want, change func(*Want)) Want { change(&w); return w }
	also := with(udp, func(w *Want) { w.Also = []string{"netfilter-drop"} })
	for _, c := range []struct {
		name, answer string
		want         Want
		outcome      Outcome
	}{
		{"right, with another that is true too", guilty, also, Right},
		{"right first, but another accused besides", guilty, udp, FalseAccusation},
		{"the right suspect on another subject", guilty, with(also, func(w *Want) { w.Subject = ":6004" }), Wrong},
		{"another first", guilty, Want{Suspect: "netfilter-drop"}, Wrong},
		{"nobody accused where somebody should be", innocent, udp, Abstained},
		{"nobody accused where nobody should be", innocent, Want{}, Right},
		{"somebody accused where nobody should be", guilty, Want{}, FalseAccusation},
		{"a symptom is missing", guilty, with(also, func(w *Want) { w.Symptoms = []string{"request-latency"} }), Incomplete},
		{"the symptom is named", guilty, with(also, func(w *Want) { w.Symptoms = []string{"datagrams-lost"} }), Right},
		{"a risk is said", innocent, Want{Said: "cpu-throttled"}, Right},
		{"what is cleared is not said", innocent, Want{Said: "observer"}, Incomplete},
	} {
		a, err := ParseAnswer([]byte(c.answer))
		if err != nil {
			t.Fatal(err)
		}
		got, why, err := Score(c.want, a)
		if err != nil || got != c.outcome {
			t.Errorf("%s: got %s (%s), %v; want %s", c.name, got, why, err, c.outcome)
		}
		if (got == Right) != (why == "") {
			t.Errorf("%s: %s with the reason %q", c.name, got, why)
		}
	}
}

func TestParseAnswerRefuses(t *testing.T) {
	for _, bad := range []string{"", "{", `{"version":1}`, `{}`} {
		if _, err := ParseAnswer([]byte(bad)); err == nil {
			t.Errorf("ParseAnswer(%q) gave no error", bad)
		}
	}
}

func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(guilty))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if a, err := ParseAnswer(raw); err == nil {
			_, _, _ = Score(Want{Suspect: "x"}, a)
		}
	})
}

func TestTally(t *testing.T) {
	var tally Tally
	if tally.Err() == nil {
		t.Error("a tally of nothing is not a success")
	}
	tally.Add(Result{Incident: "qdisc-drop", Variant: Sick, Outcome: Right})
	if err := tally.Err(); err != nil {
		t.Error(err)
	}
	tally.Add(Result{Incident: "qdisc-drop", Variant: Healthy, Outcome: FalseAccusation, Why: "x was accused"})
	if tally.Err() == nil {
		t.Error("a false accusation is not a success")
	}
	var b strings.Builder
	tally.Print(&b)
	if !strings.Contains(b.String(), "qdisc-drop, healthy: false: x was accused") {
		t.Errorf("table:\n%s", b.String())
	}
}

func TestDropElsewhere(t *testing.T) {
	a, err := ParseAnswer([]byte(`{"version":2,"verdict":[
	 {"suspect":"a","state":"culprit","subject_ref":{"netns":7}},
	 {"suspect":"b","state":"culprit","subject_ref":{"netns":8}},
	 {"suspect":"c","state":"culprit","subject_ref":{"kind":"cgroup"}},
	 {"suspect":"d","state":"risk","subject_ref":{"netns":8}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	a.DropElsewhere(map[uint64]bool{7: true})
	left := ""
	for _, e := range a.Verdict {
		left += e.Suspect
	}
	if left != "acd" {
		t.Errorf("left %q, want a, c (tied to no namespace) and d (accuses nobody)", left)
	}
}

func TestScoreTogether(t *testing.T) {
	a, err := ParseAnswer([]byte(guilty))
	if err != nil {
		t.Fatal(err)
	}
	udp, nft := Want{Suspect: "udp-receive-buffer-full", Subject: "rtp-sink"}, Want{Suspect: "netfilter-drop", Subject: "rule"}
	late := Want{Suspect: "cpu-throttled", Symptoms: []string{"request-latency"}}
	for _, c := range []struct {
		name    string
		wants   []Want
		outcome Outcome
		why     string
	}{
		{"both, in any order", []Want{nft, udp}, Right, ""},
		{"one was not named", []Want{udp, late}, Incomplete, "cpu-throttled on // was not named"},
		{"neither is first", []Want{late, {Suspect: "netfilter-drop", Subject: "elsewhere"}}, Wrong, "first is udp-receive-buffer-full"},
		{"one of two symptoms will do", []Want{nft, {Suspect: udp.Suspect, Symptoms: []string{"request-latency|datagrams-lost"}}}, Right, ""},
		{"one of them asks for a symptom", []Want{nft, {Suspect: udp.Suspect, Symptoms: []string{"request-latency"}}}, Incomplete, "request-latency was not named"},
	} {
		got, why, err := ScoreTogether(c.wants, a)
		if err != nil || got != c.outcome || !strings.HasPrefix(why, c.why) && !strings.Contains(why, c.why) {
			t.Errorf("%s: %s (%s), %v; want %s", c.name, got, why, err, c.outcome)
		}
	}
	if _, _, err := ScoreTogether([]Want{{Subject: "("}}, a); err == nil {
		t.Error("a wanted subject that is not an expression is not an error")
	}
}
