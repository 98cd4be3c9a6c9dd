package scene

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// failedConnects: connections that a process of this host asked for, and misses, and that were never
// made, where no call or socket was seen to tell it why (failedCalls).
func failedConnects(s *Scene, r *recording.Recording) (out []Symptom) {
	told := map[int]bool{}
	refused := Refusals(r)
	for _, e := range r.CallErrors {
		if fails(e) && (e.Call == "connect" || e.Call == "socket") {
			pid := e.PID
			if pid == 0 {
				pid, _ = callerOf(refused, e)
			}
			told[pid] = true
		}
	}
	for _, c := range refused {
		if c.PID == 0 || told[c.PID] || !c.Missed() || c.Failed < failedFloor {
			continue
		}
		failed, of := float64(c.Failed), float64(c.Failed+c.Opened)
		if failed < failedShare*of {
			continue
		}
		sym := Symptom{
			Name: ConnectionErrors, Subject: failedSubject(s, recording.CallError{PID: c.PID, Comm: c.Comm, Netns: c.Netns}),
			Amount: failed, Unit: "errors", Share: failed / of,
			Text: fmt.Sprintf("%s connections to %s failed", units.OfAll(failed, of), c.Remote),
		}
		for _, row := range c.Rows {
			sym.Active = append(sym.Active, second(row.T))
		}
		sym.Active = intervals.Merge(sym.Active, 0)
		out = append(out, onset(sym, s))
	}
	return out
}
