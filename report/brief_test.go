package report

import (
	"strings"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
	"snag/verdict"
)

func TestBriefOn(t *testing.T) {
	judge := func(name string) *verdict.Verdict {
		t.Helper()
		c, err := rectest.Load("../suspects/testdata/encoder-stall/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		return verdict.Judge(c.Recording)
	}
	match := recording.Stream{Name: "live/match"}
	v := judge("guilty")
	b, ok := BriefOn(v, match)
	if !ok || b.Culprit != "encoder-stall" || !strings.HasPrefix(b.Subject, "ffmpeg[40]") || b.Confidence < 0.5 || !strings.Contains(b.Text, "ffmpeg[40]") || strings.Contains(b.Text, "\n") {
		t.Errorf("%+v, %v", b, ok)
	}
	for what, other := range map[string]recording.Stream{"another stream": {Name: "live/other"}, "another place": {Name: "live/match", Layer: "edge"}} {
		if b, ok := BriefOn(v, other); ok {
			t.Errorf("of %s: %+v", what, b)
		}
	}
	b, ok = BriefOn(judge("blind-player-only"), match)
	if !ok || b.Culprit != "" || !strings.HasPrefix(b.Text, "No culprit named: ") || !strings.Contains(b.Text, "; next: ") {
		t.Errorf("from the player alone: %+v, %v", b, ok)
	}
}
