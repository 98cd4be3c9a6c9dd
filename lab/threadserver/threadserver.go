// Package threadserver has a server of threads, in C, for the incidents of locks,
// workers and dependencies: what a program of the field does with glibc's threads and
// mutexes, a Go program can't.
package threadserver

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"

	"snag/lab"
)

// Compiler is the tool that an incident with this server needs.
var Compiler = lab.Tool{Command: "cc", Package: "gcc"}

//go:embed c/server.c
var source string

// Start compiles the server, and starts it in a namespace; c/server.c reports what the
// modes and their argument are.
func Start(s *lab.Stage, ns string, port, workers int, mode, arg string, opts ...lab.Option) *lab.Process {
	return run(s, ns, compiled(s, port, workers, mode, arg), opts)
}

// StartResolving is Start with a resolv.conf of its own.
func StartResolving(s *lab.Stage, ns, conf string, port, workers int, mode, arg string, opts ...lab.Option) *lab.Process {
	return run(s, ns, s.Resolving(conf, compiled(s, port, workers, mode, arg)...), opts)
}

func compiled(s *lab.Stage, port, workers int, mode, arg string) []string {
	bin := filepath.Join(s.Dir(), "thread-server")
	s.Command("", "cc", "-O1", "-o", bin, s.File("thread-server.c", source), "-lpthread")
	return []string{bin, fmt.Sprint(port), fmt.Sprint(workers), mode, arg}
}

func run(s *lab.Stage, ns string, argv []string, opts []lab.Option) *lab.Process {
	p := s.Run(ns, "thread-server", argv, opts...)
	s.AwaitPrinted(p, "ready")
	return p
}

// LastP50 is the median latency of the last second that an rr-client printed, ms;
// false when it printed none yet.
func LastP50(printed string) (float64, bool) {
	var p50, p99 float64
	var n int
	found := false
	for line := range strings.SplitSeq(printed, "\n") {
		if _, err := fmt.Sscanf(line, "answers %d p50_ms %f p99_ms %f", &n, &p50, &p99); err == nil {
			found = true
		}
	}
	return p50, found
}
