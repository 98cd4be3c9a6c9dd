package net

import (
	"strings"
	"testing"

	"snag/recording"
	"snag/suspects/suspect"
)

// Connections between two hosts are one finding, that of the one that was harmed most; another
// path is another.
func TestOnePathIsOneCause(t *testing.T) {
	found := func(pid int, harm float64) suspect.Finding {
		return suspect.Finding{Subject: recording.Subject{Kind: recording.KindSocket, PID: pid}, Text: "lost", Harm: suspect.Harm{Amount: harm}}
	}
	o := onPaths{}
	for i, f := range []*flow{{local: "10.0.0.1:80", remote: "10.0.0.2:4000"}, {local: "10.0.0.1:80", remote: "10.0.0.2:4001"}, {local: "10.0.0.1:80", remote: "10.0.0.3:4000"}, {local: "10.0.0.1:80", remote: "10.0.0.2:4000", netns: 7}} {
		o.add(f, found(i+1, float64(i)))
	}
	all := o.worst()
	if len(all) != 3 {
		t.Fatalf("%d findings, want 3", len(all))
	}
	two := all[0]
	if two.Subject.PID != 2 || len(two.Related) != 1 || two.Related[0].PID != 1 || !strings.Contains(two.Text, "1 more connection between them") {
		t.Errorf("%+v", two)
	}
}
