package measure

import "snag/scene"

// Starved is how much of the time that it wanted to run the thread may have waited.
const Starved = 0.5

// BusiestThread is the thread that computed most of a party's processes.
type BusiestThread struct {
	Process *scene.Process
	TID     int
	Comm    string
	Ran     float64 // s
	Waited  float64 // s, ready and without a CPU
	All     float64 // s that all threads of its process ran
	Span    float64 // s
}

// BusiestOf is the thread that computed most of these processes' threads; nil where none did.
func BusiestOf(s *scene.Scene, pids []int) (most *BusiestThread) {
	for _, pid := range pids {
		p := s.Process(pid)
		if p == nil {
			continue
		}
		all, best := 0.0, (*BusiestThread)(nil)
		for _, t := range p.Threads {
			a, z := t.Rows[0], t.Rows[len(t.Rows)-1]
			ran := z.OnCPU - a.OnCPU
			if ran <= 0 || z.T <= a.T {
				continue
			}
			all += ran
			if best == nil || ran > best.Ran {
				best = &BusiestThread{Process: p, TID: z.TID, Comm: z.Comm, Ran: ran, Waited: z.RunDelay - a.RunDelay, Span: z.T.Sub(a.T).Seconds()}
			}
		}
		if best != nil {
			best.All = all
			if most == nil || best.Ran > most.Ran {
				most = best
			}
		}
	}
	return most
}
