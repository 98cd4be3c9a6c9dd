package measure

import (
	"cmp"
	"fmt"

	"snag/internal/units"
	"snag/recording"
)

// ShareOf is n of m in words, and the share; 0 of 0 has no share.
func ShareOf(n, of int) (string, float64) {
	if of == 0 {
		return "0 of 0", 0
	}
	return fmt.Sprintf("%s of %s", units.Count(float64(n)), units.Count(float64(of))), float64(n) / float64(of)
}

// OrProgram is the name of a program, or a word for it where it is not known.
func OrProgram(comm string) string {
	if comm == "" {
		return "the program"
	}
	return comm
}

// ProgramOf is a process in a sentence about it: its subject tells the namespace.
func ProgramOf(sub recording.Subject) string {
	if sub.PID == 0 {
		return sub.Name
	}
	return fmt.Sprintf("%s[%d]", cmp.Or(sub.Comm, "?"), sub.PID)
}
