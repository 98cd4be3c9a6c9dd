package net

import (
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

const (
	allTCP = 0.95 // of the dropped packets
	// sentAgainWithin is how long TCP waits at most before it sends a first segment again: its timer
	// is 200 ms at least, and a fifth of a second more on a long path.
	sentAgainWithin = 2 * time.Second
	mostMissed      = 0.1 // of the dropped packets
)

// unmissed says that what was dropped carried no data: all of it was TCP, which sends data again, and next
// to nothing was sent again. So it is with keepalives, which the connections of one program send at once
// when they were made at once, and with acknowledgements, of which the next one says the same. It is
// false where not both are known.
func unmissed(r *recording.Recording, rows []recording.Drop, lost float64, active []recording.Interval) (suspect.Evidence, bool) {
	tcp := 0.0
	for _, d := range rows {
		if d.Proto == "tcp" {
			tcp += float64(d.N)
		}
	}
	all := r.Select("node_netstat_Tcp_RetransSegs")
	if tcp < allTCP*lost || len(all) == 0 {
		return suspect.Evidence{}, false
	}
	var after []recording.Interval
	for _, i := range active {
		after = append(after, recording.Interval{Start: i.Start.Add(-time.Second), End: i.End.Add(sentAgainWithin)})
	}
	after = intervals.Merge(after, 0)
	again := 0.0
	for _, s := range all {
		for _, step := range measure.StepsOf(s) {
			if intervals.Overlap([]recording.Interval{step.Interval}, after, step.End) > 0 {
				again += step.N
			}
		}
	}
	if again >= mostMissed*lost {
		return suspect.Evidence{}, false
	}
	return suspect.Evidence{Side: suspect.Against, Grade: suspect.Weak, Value: again, Unit: "segments", Source: source.SNMP("Tcp", "RetransSegs"), Origin: "sent again",
		Text: fmt.Sprintf("all of them were TCP's, and %s segments were sent again: they carried no data, as keepalives and acknowledgements", units.Count(again))}, true
}
