package suspects

import "snag/scene"

// starved is how much of the time that it wanted to run the thread may have waited.
const starved = 0.5

// busy is the thread that computed most of a party's processes.
type busy struct {
	process *scene.Process
	tid     int
	comm    string
	ran     float64 // s
	waited  float64 // s, ready and without a CPU
	all     float64 // s that all threads of its process ran
	span    float64 // s
}

func busiestOf(s *scene.Scene, pids []int) (most *busy) {
	for _, pid := range pids {
		p := s.Process(pid)
		if p == nil {
			continue
		}
		all, best := 0.0, (*busy)(nil)
		for _, t := range p.Threads {
			a, z := t.Rows[0], t.Rows[len(t.Rows)-1]
			ran := z.OnCPU - a.OnCPU
			if ran <= 0 || z.T <= a.T {
				continue
			}
			all += ran
			if best == nil || ran > best.ran {
				best = &busy{process: p, tid: z.TID, comm: z.Comm, ran: ran, waited: z.RunDelay - a.RunDelay, span: z.T.Sub(a.T).Seconds()}
			}
		}
		if best != nil {
			best.all = all
			if most == nil || best.ran > most.ran {
				most = best
			}
		}
	}
	return most
}
