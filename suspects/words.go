package suspects

import (
	"fmt"

	"snag/recording"
)

// during is n of m in words, and the share; 0 of 0 has no share.
func during(n, of int) (string, float64) {
	if of == 0 {
		return "0 of 0", 0
	}
	return fmt.Sprintf("%s of %s", count(float64(n)), count(float64(of))), float64(n) / float64(of)
}

func orProgram(comm string) string {
	if comm == "" {
		return "the program"
	}
	return comm
}

// programOf is a process in a sentence about it: its subject tells the namespace.
func programOf(sub recording.Subject) string {
	if sub.PID == 0 {
		return sub.Name
	}
	return fmt.Sprintf("%s[%d]", orThis(sub.Comm, "?"), sub.PID)
}
