package score

import (
	"fmt"
	"strings"
	"testing"

	"snag/lab"
)

// said builds an answer of lines "state suspect subject confidence"; a "!" after
// the state marks an entry that something strong speaks for.
func said(t *testing.T, lines ...string) lab.Answer {
	t.Helper()
	var entries []string
	for _, l := range lines {
		f := strings.Fields(l)
		evidence := ""
		if state, strong := strings.CutSuffix(f[0], "!"); strong {
			f[0], evidence = state, `{"side":"for","grade":"strong"}`
		}
		entries = append(entries, fmt.Sprintf(`{"state":%q,"suspect":%q,"subject":%q,"confidence":%s,"evidence":[%s]}`, f[0], f[1], f[2], f[3], evidence))
	}
	a, err := lab.ParseAnswer([]byte(`{"version":2,"verdict":[` + strings.Join(entries, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func incident(name string, w lab.Want) lab.Incident { return lab.Incident{Name: name, Want: w} }

var (
	qdisc    = incident("qdisc-drop", lab.Want{Suspect: "qdisc-drop", Subject: "eth0"})
	closed   = incident("udp-port-closed", lab.Want{Suspect: "udp-port-closed", Subject: ":5004"})
	observer = incident("observer", lab.Want{Said: "observer", Also: []string{"observer"}})
)

func TestMarkOf(t *testing.T) {
	for _, c := range []struct {
		name       string
		incidents  []lab.Incident
		variant    lab.Variant
		answer     []string
		outcome    lab.Outcome
		ac1, ac3   float64
		subject    float64
		false, sum int // false accusations, claims
	}{
		{"first, on the right subject", []lab.Incident{qdisc}, lab.Sick, []string{"culprit qdisc-drop eth0 0.9"}, lab.Right, 1, 1, 1, 0, 1},
		{"first, on another subject", []lab.Incident{qdisc}, lab.Sick, []string{"culprit qdisc-drop wan1 0.9"}, lab.Wrong, 1, 1, 0, 1, 1},
		{"second", []lab.Incident{qdisc}, lab.Sick, []string{"culprit a x 0.95", "culprit qdisc-drop eth0 0.9"}, lab.Wrong, 0, 1, 1, 1, 2},
		{"fourth", []lab.Incident{qdisc}, lab.Sick, []string{"culprit a x 0.9", "culprit b x 0.8", "risk c x 0.7", "risk qdisc-drop eth0 0.5"}, lab.Wrong, 0, 0, 0, 2, 2},
		{"nobody accused, suspected without proof", []lab.Incident{qdisc}, lab.Sick, []string{"not-seen! qdisc-drop eth0 0.6"}, lab.Abstained, 0, 1, 0, 0, 0},
		{"nobody accused, blind", []lab.Incident{qdisc}, lab.Sick, []string{"not-seen qdisc-drop - 0.1", "cleared a - 0.3"}, lab.Abstained, 0, 0, 0, 0, 0},
		{"the twin, accused", []lab.Incident{qdisc}, lab.Healthy, []string{"culprit a x 0.9", "culprit a x 0.8"}, lab.FalseAccusation, 0, 0, 0, 1, 2},
		{"the twin, left alone", []lab.Incident{qdisc}, lab.Healthy, []string{"risk a x 0.9"}, lab.Right, 0, 0, 0, 0, 0},
		{"both of two", []lab.Incident{qdisc, closed}, lab.Sick, []string{"culprit udp-port-closed :5004 0.9", "culprit qdisc-drop eth0 0.8"}, lab.Right, 1, 1, 1, 0, 2},
		{"one of two", []lab.Incident{qdisc, closed}, lab.Sick, []string{"culprit qdisc-drop eth0 0.8"}, lab.Incomplete, 1, 0.5, 0.5, 0, 1},
		{"the observer speaks of itself", []lab.Incident{observer}, lab.Sick, []string{"culprit observer snag 0.9"}, lab.Right, 1, 1, 0, 0, 1},
		{"the observer says nothing", []lab.Incident{observer}, lab.Sick, []string{"cleared observer snag 0.9"}, lab.Incomplete, 0, 0, 0, 0, 0},
	} {
		m, err := MarkOf(Case{Incidents: c.incidents, Variant: c.variant, Level: lab.Plain}, said(t, c.answer...))
		if err != nil {
			t.Fatal(err)
		}
		if m.Outcome != c.outcome || m.AC1 != c.ac1 || m.AC3 != c.ac3 || m.Subject != c.subject || len(m.False) != c.false || len(m.Claims) != c.sum {
			t.Errorf("%s: got %+v", c.name, m)
		}
		if m.Abstained != (c.outcome == lab.Abstained) {
			t.Errorf("%s: abstained is %v", c.name, m.Abstained)
		}
	}
}

func TestRank(t *testing.T) {
	got := Rank(said(t,
		"cleared z x 0.9", "risk d x 0.9", "not-seen! f x 0.4", "not-seen g x 0.4", "consequence e x 0.9",
		"contributing c x 0.5", "culprit a x 0.7", "culprit b x 0.8", "culprit a y 0.6"))
	if s := strings.Join(got, " "); s != "a b c e d f" {
		t.Errorf("ranked %q", s)
	}
}

// Three sick runs (one right, one on another subject, one abstained), one that
// gave no verdict, and two healthy ones of which one was accused.
func TestSum(t *testing.T) {
	sick := Case{Incidents: []lab.Incident{qdisc}, Variant: lab.Sick, Level: lab.Plain}
	barely, healthy := sick, sick
	barely.Level, healthy.Variant = lab.Barely, lab.Healthy
	var marks []Mark
	for _, one := range []struct {
		c Case
		a []string
	}{
		{sick, []string{"culprit qdisc-drop eth0 0.9"}},
		{sick, []string{"culprit qdisc-drop wan1 0.6"}},
		{barely, nil},
		{healthy, nil},
		{healthy, []string{"culprit a x 0.8", "culprit b x 0.7"}},
	} {
		m, err := MarkOf(one.c, said(t, one.a...))
		if err != nil {
			t.Fatal(err)
		}
		m.Seconds = 10
		marks = append(marks, m)
	}
	marks = append(marks, Failed(sick, "no tool"))
	s := Sum("snag", marks, true)
	want := Row{Name: "all", Runs: 4, AC1: 0.5, AC3: 0.5, Subject: 0.25, SubjectRuns: 4, Abstained: 1, Innocent: 2,
		FalseRuns: 2, False: 3, Failed: 1, Seconds: 10, TimedRuns: 5}
	if s.All != want {
		t.Errorf("all: got %+v\nwant %+v", s.All, want)
	}
	if len(s.Levels) != 3 || s.Levels[0].Runs != 3 || s.Levels[1].Name != "barely" || s.Levels[1].Runs != 1 || s.Levels[2].Innocent != 2 {
		t.Errorf("levels: %+v", s.Levels)
	}
	if len(s.Causes) != 1 || s.Causes[0].Runs != 4 || s.Causes[0].Innocent != 2 {
		t.Errorf("causes: %+v", s.Causes)
	}
	if got := len(s.Unmet()); got != 4 {
		t.Errorf("%d goals unmet, want all 4: %v", got, s.Unmet())
	}
	if s.Calibration.N != 4 || s.Calibration.Right != 1 {
		t.Errorf("calibration: %+v", s.Calibration)
	}
}
