package verify

import (
	"strings"
	"testing"
)

func TestLevelOfASymptom(t *testing.T) {
	sick, healthy := judged(t, "udp-receive-buffer-full-sick"), judged(t, "udp-receive-buffer-full-healthy")
	lost, unit, err := Level(sick, "datagrams-lost", "", "")
	if err != nil || unit != "datagrams" || lost < 1 {
		t.Errorf("%v %s, %v", lost, unit, err)
	}
	if none, _, err := Level(healthy, "datagrams-lost", unit, "udp-receive-buffer-full"); err != nil || none != 0 {
		t.Errorf("healthy: %v, %v", none, err)
	}
	must, _ := sick.With("culprit")[0].Suspect.Blind(healthy.Recording)
	if len(must) > 0 {
		t.Fatalf("%v", must)
	}
	needs := sick.With("culprit")[0].Suspect.Needs
	for _, n := range needs {
		if !n.Must {
			continue
		}
		_, _, err := Level(cut(healthy, n.Measure), "datagrams-lost", unit, "udp-receive-buffer-full")
		if err == nil || !strings.Contains(err.Error(), n.Measure) {
			t.Errorf("without %s: %v", n.Measure, err)
		}
	}
	if _, _, err := Level(healthy, "bad-luck", "", ""); err == nil {
		t.Error("a symptom that is none was measured as 0")
	}
	if amount, unit, err := Level(judged(t, "nagle-delayed-ack-sick"), "request-latency", "", ""); err != nil || amount <= 0 || amount > 10 {
		t.Errorf("a latency of %v %s, %v", amount, unit, err)
	}
}
