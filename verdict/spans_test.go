package verdict

import (
	"testing"
	"time"

	"snag/recording"
	"snag/suspects/suspect"
)

// anHour is a recording of two files, of which one measured for 30 s.
func anHour() *recording.Recording {
	start := recording.Time(1_790_000_000_000_000_000)
	r := &recording.Recording{Manifest: recording.Manifest{Start: start, End: start.Add(time.Hour), Files: make([]recording.File, 2)}}
	r.Coverage = []recording.Coverage{
		{Probe: "log.requests", State: recording.CoverageOK, Since: start},
		{Probe: "sockets.turns", State: recording.CoverageOK, Since: start.Add(20 * time.Minute), Until: start.Add(20*time.Minute + 30*time.Second)},
		{Probe: "sockets.diag", State: recording.CoverageOK, Since: start.Add(50 * time.Minute)}, // of a live host: it lasts
	}
	return r
}

func TestTimesForASuspect(t *testing.T) {
	r := anHour()
	must := func(measures ...string) []suspect.Need {
		var out []suspect.Need
		for _, m := range measures {
			out = append(out, suspect.Need{Measure: m, Must: true})
		}
		return out
	}
	for _, x := range []struct {
		what         string
		sus          suspect.Suspect
		narrow, wide bool
	}{
		{"what the log tells", suspect.Suspect{Needs: must("log.requests")}, false, true},
		{"what the trace alone tells", suspect.Suspect{Needs: must("sockets.turns")}, true, false},
		{"what both tell", suspect.Suspect{Needs: must("sockets.turns"), InFiles: map[string][]string{"sockets.turns": {"log.requests"}}}, true, true},
		{"what lasts to the end", suspect.Suspect{Needs: must("sockets.diag")}, false, true},
		{"what was not measured", suspect.Suspect{Needs: must("drops.socket")}, false, true},
	} {
		span, narrow, wide := timesFor(&x.sus, r)
		if narrow != x.narrow || wide != x.wide || narrow && span.End.Sub(span.Start) != 30*time.Second {
			t.Errorf("%s: %v %v %v", x.what, span, narrow, wide)
		}
	}
	r.Manifest.Files = r.Manifest.Files[:1]
	if _, narrow, wide := timesFor(&suspect.Suspect{Needs: must("sockets.turns")}, r); narrow || !wide {
		t.Error("one file is judged over all of its time")
	}
}

func TestOnsetsOfTheTimeThatWasMeasured(t *testing.T) {
	at := func(from, to int) recording.Interval {
		return recording.Interval{Start: recording.Time(from), End: recording.Time(to)}
	}
	whole, part := at(0, 1000), at(400, 500)
	for _, x := range []struct {
		what   string
		active []recording.Interval
		window recording.Interval
		onsets int
		seen   bool
	}{
		{"all of the time", []recording.Interval{at(1, 2), at(700, 710)}, whole, 2, true},
		{"in it and outside", []recording.Interval{at(1, 2), at(410, 420), at(700, 710)}, part, 1, true},
		{"before and after", []recording.Interval{at(1, 2), at(700, 710)}, part, 0, false},
		{"it goes on in it", []recording.Interval{at(1, 450)}, part, 0, true},
		{"it never ended", []recording.Interval{at(1, 0)}, part, 0, true},
		{"of no time in particular", nil, part, 0, true},
	} {
		if onsets, seen := onsetsIn(x.active, x.window, whole); len(onsets) != x.onsets || seen != x.seen {
			t.Errorf("%s: %v %v", x.what, onsets, seen)
		}
	}
}
