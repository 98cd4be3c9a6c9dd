package suspects

import (
	"strings"

	"snag/scene"
)

// runsJava tells whether a process is a JVM, by its program.
func runsJava(p *scene.Process) bool {
	return p.Subject.Comm == "java" || strings.HasSuffix(p.Last().Exe, "/java")
}
