package measure

import (
	"slices"
	"strings"

	"snag/scene"
)

// RunsJava reports whether a process is a JVM, by its program.
func RunsJava(p *scene.Process) bool {
	return p.Subject.Comm == "java" || strings.HasSuffix(p.Last().Exe, "/java")
}

// collectors begin the names of a JVM's own threads that free memory. The VM thread does it
// where the collector is the serial one.
var collectors = []string{"GC Thread", "G1 ", "ParGC", "VM Thread", "Shenandoah GC", "ZWorker", "XWorker"}

// Collects tells by its name whether a thread is one of a JVM's collector.
func Collects(comm string) bool {
	return slices.ContainsFunc(collectors, func(name string) bool { return strings.HasPrefix(comm, name) })
}
