package pool

import (
	"time"

	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
)

// spansOf joins the looks in which something held, each until the next look.
func spansOf(looks []measure.Look, holds func(i int) bool) []recording.Interval {
	var out []recording.Interval
	for i := range looks {
		if !holds(i) {
			continue
		}
		end := looks[i].T.Add(time.Second)
		if i+1 < len(looks) {
			end = looks[i+1].T
		}
		out = append(out, recording.Interval{Start: looks[i].T, End: end})
	}
	return intervals.Merge(out, 0)
}

// requestsWait is in how many of the seconds of active data or connections waited
// at a socket that the process serves, and the worst of them.
func requestsWait(p *scene.Process, active []recording.Interval) (seconds, of int, worst *scene.Socket, most int) {
	all, waits := map[recording.Time]bool{}, map[recording.Time]bool{}
	for _, k := range p.Sockets {
		if k.First().Proto != "udp" && !k.Listening() && k.Listener == nil {
			continue // it calls somebody there
		}
		for _, row := range k.Rows {
			if !intervals.Cover(active, row.T) || row.Proto == "tcp" && row.State != "ESTABLISHED" && row.State != "LISTEN" {
				continue
			}
			second := row.T / recording.Time(time.Second)
			all[second] = true
			if row.RecvQ > 0 {
				waits[second] = true
				if row.RecvQ > most {
					worst, most = k, row.RecvQ
				}
			}
		}
	}
	return len(waits), len(all), worst, most
}
