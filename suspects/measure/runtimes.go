package measure

import (
	"strings"

	"snag/scene"
)

// RunsJava tells whether a process is a JVM, by its program.
func RunsJava(p *scene.Process) bool {
	return p.Subject.Comm == "java" || strings.HasSuffix(p.Last().Exe, "/java")
}
