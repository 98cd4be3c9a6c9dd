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
	if !ok || b.Culprit != "encoder-stall" || !strings.HasPrefix(b.Subject, "ffmpeg[40]") || b.Confidence < 0.5 || !strings.Contains(b.Proof, "proof") || !strings.Contains(b.Text, "ffmpeg[40]") || strings.Contains(b.Text, "\n") {
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

	// A culprit of something else that was there at the same time is named as such.
	for i := range v.Entries {
		v.Entries[i].Explains = nil
	}
	b, ok = BriefOn(v, match)
	if !ok || b.Culprit != "" || !strings.Contains(b.Text, "nothing proves what stopped this stream; on this host at that time: ") || !strings.Contains(b.Text, "ffmpeg[40]") {
		t.Errorf("not joined: %+v, %v", b, ok)
	}
	for i := range v.Entries {
		for k := range v.Entries[i].Active {
			v.Entries[i].Active[k] = recording.Interval{Start: rectest.Start, End: rectest.Start + 1}
		}
	}
	if b, _ := BriefOn(v, match); strings.Contains(b.Text, "at that time") {
		t.Errorf("before it: %+v", b)
	}
}
