package verdict

import (
	"strings"
	"testing"

	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
)

// slicedRun is a recording of which turns were measured a seventh of the time.
func slicedRun(share float64) *recording.Recording {
	c := recording.Coverage{Probe: "sockets.turns", State: recording.CoveragePartial, Share: share, Why: "measured 14 % of the time, in 9 slices"}
	if share == 0 {
		c = recording.Coverage{Probe: "sockets.turns", State: recording.CoverageOK}
	}
	return &recording.Recording{Coverage: []recording.Coverage{c}}
}

func asked(must bool, e ...suspect.Evidence) *suspect.Suspect {
	s := &suspect.Suspect{Name: "late", Needs: []suspect.Need{{Measure: "sockets.turns", Must: must}}}
	s.Weigh = func(*scene.Scene, *recording.Recording) []suspect.Finding {
		if len(e) == 0 {
			return nil
		}
		return []suspect.Finding{{Subject: recording.Subject{Kind: recording.KindProcess, PID: 7}, Evidence: e}}
	}
	return s
}

func TestWhatWasMeasuredInSlicesClearsNobody(t *testing.T) {
	t.Parallel()
	quick := suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Origin: "turns", Text: "its answers took 1 ms"}
	option := suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Origin: "option", Text: "the option is set"}
	for _, c := range []struct {
		name  string
		share float64
		must  bool
		e     []suspect.Evidence
		want  State
	}{
		{"whole, silent", 0, true, nil, Cleared},
		{"slices, silent", 0.14, true, nil, NotSeen},
		{"slices of what only adds, silent", 0.14, false, nil, NotSeen},
		{"whole, quick answers", 0, true, []suspect.Evidence{quick}, Cleared},
		{"slices, quick answers", 0.14, true, []suspect.Evidence{quick}, NotSeen},
		{"slices of what only adds, quick answers", 0.14, false, []suspect.Evidence{quick}, NotSeen},
		{"slices of what only adds, cleared by something else", 0.14, false, []suspect.Evidence{option}, Cleared},
	} {
		r := slicedRun(c.share)
		_, settled := weighAll(&scene.Scene{}, r, nil, nil, nil, []*suspect.Suspect{asked(c.must, c.e...)})
		if len(settled) != 1 || settled[0].State != c.want {
			t.Errorf("%s: %+v, want %s", c.name, settled, c.want)
			continue
		}
		if c.want == NotSeen && !strings.Contains(settled[0].Text+settled[0].Evidence[0].Doubt, "14 %") {
			t.Errorf("%s: %q does not say what was measured", c.name, settled[0].Text)
		}
	}
}

func TestEvidenceOfSlicesIsDoubted(t *testing.T) {
	t.Parallel()
	e := []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Origin: "turns"},
		{Side: suspect.Against, Grade: suspect.Decisive, Origin: "turns"},
		{Side: suspect.Against, Grade: suspect.Strong, Origin: "hold time"},
	}
	inSlices(e, slicedRun(0.14))
	if e[0].Grade != suspect.Strong || e[0].Doubt == "" || e[1].Grade != suspect.Weak || e[2].Grade != suspect.Strong || e[2].Doubt != "" {
		t.Errorf("%+v", e)
	}
}
