package measure

import "snag/scene"

// Suffers reports whether the scene has a symptom of that process.
func Suffers(s *scene.Scene, pid int) bool {
	for _, sym := range s.Symptoms {
		if sym.Subject.PID == pid {
			return true
		}
	}
	return false
}
