package remedies

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snag/recording"
	"snag/remedies/knob"
	"snag/remedies/plan"
	"snag/verdict"
)

var update = flag.Bool("update", false, "write the plans anew")

// The plans for the kept recordings of incidents. Each is one that apply would take.
func TestPlansOfRecordings(t *testing.T) {
	files, _ := filepath.Glob("testdata/plans/*.yaml")
	if len(files) < 10 {
		t.Fatalf("%d golden plans", len(files))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			p := planOf(t, "../lab/recordings/"+name+"-sick.snag", nil)
			if len(p.Changes)+len(p.Advice) == 0 {
				t.Error("it names nothing to do")
			}
			text, err := p.Text()
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(file, text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(text) != string(want) {
				t.Errorf("the plan is another by now (go test ./remedies -update writes it):\n%s", text)
			}
		})
	}
}

// Fit leaves no change in a plan that apply would refuse.
func TestPlansOfRecordingsAreValid(t *testing.T) {
	files, _ := filepath.Glob("testdata/plans/*.yaml")
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if err := planOf(t, "../lab/recordings/"+name+"-sick.snag", knob.Fit).Valid(knob.ForPlan()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func planOf(t *testing.T, path string, fit func(plan.Target, string) (string, error)) *plan.Plan {
	t.Helper()
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	here := Recorded(r)
	here.Fit = fit
	p, err := For(verdict.Judge(r), here)
	if err != nil {
		t.Fatal(err)
	}
	p.Made = plan.Time{}
	return p
}

// A host that nothing is wrong with gets no plan.
func TestNoPlanForAHealthyHost(t *testing.T) {
	for _, name := range []string{"qdisc-drop-healthy", "qdisc-drop-distractor", "cpu-throttled-distractor"} {
		r, err := recording.Open("../lab/recordings/" + name + ".snag")
		if err != nil {
			t.Fatal(err)
		}
		if p, err := For(verdict.Judge(r), Recorded(r)); !errors.Is(err, ErrNothing) {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}
