package lab

import (
	"strings"
	"testing"
)

func TestCPUTime(t *testing.T) {
	before := parseCPUTime("cpu  100 0 50 1000 20 0 10 40 7 0\ncpu0 1 2 3\n")
	after := parseCPUTime("cpu  130 0 60 1900 30 0 20 90 8 0\n")
	if got := after.since(before); got != 0.5 {
		t.Errorf("%.2f of 100 ticks stolen, want 0.50", got)
	}
	for _, torn := range []string{"", "cpu 1 2 3", "cpu  a 0 50 1000 20 0 10 40", "intr 1 2 3 4 5 6 7 8 9"} {
		if got := parseCPUTime(torn); got != (cpuTime{}) {
			t.Errorf("%q: %+v", torn, got)
		}
	}
	if got := before.since(before); got != 0 {
		t.Errorf("of nothing asked for %.2f was stolen", got)
	}
}

// That the CPUs were stolen is no false accusation where they were, by the lab's own look.
func TestDropStolen(t *testing.T) {
	for _, c := range []struct {
		what  string
		share float64
		want  Want
		left  string
	}{
		{"a quiet machine", 0.1, Want{Suspect: "peer-reset"}, "cpu-saturated cpu-saturated peer-reset"},
		{"a machine whose CPUs were stolen", 0.4, Want{Suspect: "peer-reset"}, "cpu-saturated peer-reset"},
		{"an incident of CPUs", 0.4, Want{Suspect: "cpu-saturated"}, "cpu-saturated cpu-saturated peer-reset"},
		{"one that may slow others", 0.4, Want{Suspect: "peer-reset", Also: []string{"cpu-saturated"}}, "cpu-saturated cpu-saturated peer-reset"},
	} {
		a, err := ParseAnswer([]byte(`{"version":2,"verdict":[
		 {"suspect":"cpu-saturated","state":"culprit","subject_ref":{"kind":"host"}},
		 {"suspect":"cpu-saturated","state":"culprit","subject_ref":{"kind":"process","pid":7}},
		 {"suspect":"peer-reset","state":"culprit","subject_ref":{"kind":"process","pid":8}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		a.DropStolen(c.share, []Want{c.want})
		var left []string
		for _, e := range a.Verdict {
			left = append(left, e.Suspect)
		}
		if got := strings.Join(left, " "); got != c.left {
			t.Errorf("%s: left %q, want %q", c.what, got, c.left)
		}
	}
}
