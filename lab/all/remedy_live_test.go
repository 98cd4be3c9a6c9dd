package all

import (
	"context"
	"os"
	"testing"
	"time"

	"snag/internal/built"
	"snag/lab"
	processstopped "snag/lab/process-stopped"
	"snag/remedies/knob"
	"snag/remedies/verify"
)

// The shortest remedies from the incident to the verdict that it is gone, and one plan
// that does not help. make lab-remedies runs all of them.
func TestRemedies(t *testing.T) {
	for i, name := range []string{"fd-limit", "qdisc-drop"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			healed(t, name, false, string(rune('a'+i)))
		})
	}
	t.Run("reverse-path-filter, a wrong plan", func(t *testing.T) {
		t.Parallel()
		healed(t, "reverse-path-filter", true, "c")
	})
}

// What is felt by milliseconds needs the machine for itself (tools/tests).
func TestRemedyOfLateAnswers(t *testing.T) { healed(t, "nagle-delayed-ack", false, "") }

// twoRemedies run at a time: a third would be what the others measure.
var twoRemedies = make(chan struct{}, 2)

// remedied runs a remedy on a stage of that suffix.
func remedied(t *testing.T, inc lab.Incident, wrong bool, suffix string) (lab.RemedyResult, error) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("making network namespaces needs root")
	}
	twoRemedies <- struct{}{}
	defer func() { <-twoRemedies }()
	snag := t.TempDir() + "/snag"
	built.Program(t, "snag", snag)
	ctx, cancel := context.WithTimeout(context.Background(), 6*time.Minute)
	defer cancel()
	return lab.RunRemedy(ctx, inc, wrong, lab.RunOptions{SnagPath: snag, For: 6 * time.Second, Shared: true, Suffix: suffix})
}

func healed(t *testing.T, name string, wrong bool, suffix string) {
	t.Helper()
	inc, err := lab.Find(Incidents, name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := remedied(t, inc, wrong, suffix)
	if !r.Right() && !wrong && !t.Skipped() {
		t.Logf("once more, to tell a noisy machine from a fault: %v %+v", err, r)
		r, err = remedied(t, inc, wrong, suffix)
	}
	if err != nil || !r.Right() {
		t.Errorf("wrong plan: %v: %v %+v", wrong, err, r)
	}
	t.Logf("%+v", r)
}

// What comes for 7 s in every minute and a half, and was not there while apply --auto measured,
// is neither gone nor confirmed. What TestRemedies makes, which runs before or after, would be other
// culprits to it.
func TestApplyAutoBetweenTwoEpisodes(t *testing.T) {
	r, err := remedied(t, processstopped.Seldom, true, "")
	if err != nil || r.Outcome != string(verify.TooEarly) || !r.Back {
		t.Errorf("%v %+v", err, r)
	}
	t.Logf("%+v", r)
}

// A remedy names programs and targets of its own incident: its wrong plan is one that
// snag would carry out.
func TestWrongPlansAreValid(t *testing.T) {
	n := 0
	for _, inc := range Incidents {
		if inc.Remedy == nil {
			continue
		}
		n++
		if len(inc.Remedy.Wrong) == 0 {
			t.Errorf("%s has no wrong plan", inc.Name)
		}
		for _, c := range inc.Remedy.Wrong {
			if c.Target.Path != "" {
				c.Target.Path = "/" + c.Target.Path
			}
			k, ok := knob.Kinds[c.Target.Kind]
			if !ok {
				t.Errorf("%s: no kind %s", inc.Name, c.Target.Kind)
			} else if err := k.Valid(c.Target, c.Then); err != nil {
				t.Errorf("%s: %v", inc.Name, err)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d incidents have a remedy", n)
	}
}
