package report

import (
	"strings"
	"testing"
)

// What experiments struck off is listed with its number and its service, beside what was cleared by probes.
func TestRuledOutByExperiments(t *testing.T) {
	text, d := loadedCase(t, "eliminate-rules-out.txtar")
	for _, want := range []string{
		"7 experiments on http://10.0.0.1:8080/work; the request: half within 0.004 s",
		"ruled out listen-overflow · peer 10.0.0.1:8080 · for http://10.0.0.1:8080/work: 0 of 20 connects waited for a SYN to be sent again",
		"ruled out run-queue-wait · snag itself",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if len(d.Experiments) != 7 {
		t.Fatalf("%d experiments in the document", len(d.Experiments))
	}
	e := d.Experiments[2]
	if e.Experiment != "connect" || e.Number == nil || *e.Number != 0 || e.Unit != "ratio" || e.Start == "" || len(e.Suspects) != 2 || e.Suspects[1].State != "ruled out" || e.Suspects[1].Cause != "listen-overflow" {
		t.Errorf("%+v", e)
	}
}

// One that did not run says why, and its number is null and not zero.
func TestAnExperimentThatDidNotRun(t *testing.T) {
	text, d := loadedCase(t, "eliminate-could-not-run.txtar")
	if !strings.Contains(text, "3 experiments on http://10.0.0.1:8080/work, 2 not done") {
		t.Error(text)
	}
	if e := d.Experiments[4]; e.NotDone != "no time was left of 5s (--within)" || e.Number != nil || e.Suspects[0].State != "not measured" {
		t.Errorf("%+v", e)
	}
}

// What is left is named with the experiment's number and the next command.
func TestSuspectedByExperiments(t *testing.T) {
	text, _ := loadedCase(t, "eliminate-suspects.txtar")
	for _, want := range []string{"NO CULPRIT NAMED the experiments suspect slow-dependency and cannot prove it", "next on the server: sudo snag find --port 8080"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
