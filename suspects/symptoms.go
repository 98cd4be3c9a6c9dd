package suspects

import "snag/scene"

// suffers tells whether the scene has a symptom of that process.
func suffers(s *scene.Scene, pid int) bool {
	for _, sym := range s.Symptoms {
		if sym.Subject.PID == pid {
			return true
		}
	}
	return false
}
