package pool

import (
	"snag/recording"
	"snag/scene"
)

// errorsOfPeers are the services of this host whose errors a pool passes on, by their sockets, with who passes them on:
// those that it asks explain half of its own errors or more, all together. What answers from elsewhere are is not seen
// here: the kernel's programs look at who sends.
func errorsOfPeers(s *scene.Scene, r *recording.Recording, failing map[scene.NodeID]scene.Symptom) (here map[scene.NodeID][]recording.Subject) {
	here = map[scene.NodeID][]recording.Subject{}
	for _, p := range poolsOf(s, r) {
		failed := failedFor(p, s)
		if failed == 0 {
			continue
		}
		sum, asks := 0.0, map[scene.NodeID]bool{}
		for _, row := range r.Turns {
			if row.Role != "call" || row.Proto == "udp" || p.worker(row.PID) == nil {
				continue
			}
			if l := s.Callee(row); l != nil {
				if sym, ok := failing[l.ID]; ok {
					sum += sym.Share * float64(row.N+row.Untimed)
					asks[l.ID] = true
				}
			}
		}
		if sum < explainsFailed*failed {
			continue
		}
		for id := range asks {
			here[id] = append(here[id], p.head.Subject)
		}
	}
	return here
}
