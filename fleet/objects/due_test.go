package objects

import (
	"testing"
	"time"

	"snag/recorder"
)

var began = time.Date(2026, 11, 28, 14, 17, 28, 0, time.UTC)

func anIncident(id int, culprit string) recorder.Incident {
	i := recorder.Incident{ID: id, Start: began.Add(time.Duration(id) * time.Minute), Judgements: 1}
	i.End = i.Start.Add(90 * time.Second)
	i.Standing, i.Hurt = "unproved", true
	if culprit != "" {
		i.Standing, i.Culprits = "culprit", []recorder.Named{{Name: culprit, Subject: "java[77]", Text: "it stops for 4.1 s"}}
	}
	return i
}

func TestWhenAnIncidentIsSent(t *testing.T) {
	t.Parallel()
	i := anIncident(0, "runtime-pause")
	other := anIncident(0, "packet-loss")
	of := verdictOf(i)
	soon, late := began.Add(time.Minute), began.Add(longIncident)
	for what, c := range map[string]struct {
		over bool
		o    one
		now  time.Time
		want bool
	}{
		"it goes on, for a minute":                 {false, one{}, soon, false},
		"it goes on, for long":                     {false, one{}, late, true},
		"it goes on, and nothing changed":          {false, one{Sent: 1, Verdict: of}, late, false},
		"it goes on with another verdict":          {false, one{Sent: 1, Verdict: verdictOf(other)}, late, true},
		"it goes on, and once more is for its end": {false, one{Sent: mostSends - 1, Verdict: verdictOf(other)}, late, false},
		"it ended":                                  {true, one{}, soon, true},
		"it ended, as it was sent":                  {true, one{Sent: mostSends - 1, Verdict: of}, soon, true},
		"it ended and was sent":                     {true, one{Sent: 1, Verdict: of, Over: true}, late, false},
		"it ended, was sent and is judged again":    {true, one{Sent: 1, Verdict: verdictOf(other), Over: true}, late, true},
		"it was sent as often as is allowed at all": {true, one{Sent: mostSends, Verdict: verdictOf(other), Over: true}, late, false},
	} {
		if got := due(i, c.over, c.o, c.now); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}

// A number in a text is no other verdict; a culprit, a subject and a symptom are.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	i, same := anIncident(1, "runtime-pause"), anIncident(1, "runtime-pause")
	same.Culprits[0].Text, same.Judgements = "it stops for 9 s", 7
	if verdictOf(i) != verdictOf(same) {
		t.Error("another text is another verdict")
	}
	seen := map[string]int{}
	for n, change := range []func(*recorder.Incident){
		func(*recorder.Incident) {}, func(i *recorder.Incident) { i.Culprits[0].Subject = "java[78]" }, func(i *recorder.Incident) { i.Culprits = nil },
		func(i *recorder.Incident) { i.Symptoms = i.Culprits }, func(i *recorder.Incident) { i.Symptoms, i.Culprits = i.Culprits, nil }, func(i *recorder.Incident) { i.Looked = true },
	} {
		i := anIncident(1, "runtime-pause")
		change(&i)
		if before, is := seen[verdictOf(i)]; is {
			t.Errorf("change %d is as %d", n, before)
		}
		seen[verdictOf(i)] = n
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"edge-7": "edge-7", "a/b": "a_b", "..": "_.", "": "_", ".hidden": "_hidden", "süß": "s__"} {
		if got := HostName(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
		name := nameOf(HostName(text), anIncident(7, ""))
		f, is := ParseName(name)
		if !is || f.ID != 7 || !f.Start.Equal(began.Add(7*time.Minute)) || f.Host != HostName(text) {
			t.Errorf("%q: %+v, %v", name, f, is)
		}
	}
	for _, bad := range []string{"", "edge-7", "../20261128T141728Z-7", "edge-7/20261128T141728Z-7/x", "a/b/20261128T141728Z-7", "edge-7/20261328T141728Z-7", "edge-7/20261128T141728Z-"} {
		if f, is := ParseName(bad); is {
			t.Errorf("%q: %+v", bad, f)
		}
	}
}
