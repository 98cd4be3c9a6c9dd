// Package runtimepause makes a Java server whose heap is nearly full, so that its
// collector stops it again and again.
package runtimepause

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "runtime-pause",
	Title: "a Java server's heap is nearly full: its collector stops the world for half a second, again and again",
	Long:  true,
	Needs: []lab.Tool{lab.IP, {Command: "java", Package: "default-jdk-headless"}, {Command: "javac", Package: "default-jdk-headless"}},
	Want: lab.Want{
		Suspect: "runtime-pause",
		Subject: `java`,
	},
	Distractor: "the same server with little in its heap, which a script stops (SIGSTOP) for as long, again and again",
	DistractorWant: lab.Want{
		Suspect: "process-stopped",
		Subject: `java`,
	},
	Start: start,
}

//go:embed server/PauseServer.java
var source string

// load is what a server keeps and replaces.
type load struct {
	entries int // of 16 bytes, and 4 for the reference
	rate    int // replaced a second
	heap    int // MiB
	scratch int // bytes that each request allocates
}

func start(s *lab.Stage, v lab.Variant) error {
	l := lab.At(s, load{8_000_000, 2_000_000, 208, 0}, load{16_000_000, 3_000_000, 400, 0}, load{17_000_000, 5_000_000, 410, 0})
	server := serve(s, v, l, "-XX:+UseSerialGC", "-Xmn16m")
	if v == lab.Distractor {
		s.Actor("", "backup-script", "stopper", []string{"--pid", strconv.Itoa(server.PID), "--stop", "2500ms", "--run", "1s"})
		s.AwaitState(server, 'T')
	}
	return s.Err()
}

// serve starts the server and its clients and returns once answers wait, or once they
// do not in the variants whose heap has room.
func serve(s *lab.Stage, v lab.Variant, l load, flags ...string) *lab.Process {
	ns := s.Netns("shop")
	s.Command("", "javac", "-d", s.Dir(), s.File("PauseServer.java", source))
	if v != lab.Sick {
		l.entries /= 80
	}
	heap := fmt.Sprintf("%dm", l.heap)
	argv := append([]string{"java", "-Xms" + heap, "-Xmx" + heap, "-Xlog:gc,safepoint:file=" + filepath.Join(s.Dir(), "gc.log")}, flags...)
	server := s.Run(ns, "java", append(argv,
		"-cp", s.Dir(), "PauseServer", "8080", strconv.Itoa(l.entries), strconv.Itoa(l.rate), strconv.Itoa(l.scratch)))
	s.AwaitPrinted(server, "ready")
	client := s.Actor(ns, "client", "rr-client", []string{"--to", "127.0.0.1:8080", "--conns", "8", "--every", "50ms", "--open"})
	if v == lab.Sick {
		s.AwaitOutput(client, "answers waited for a collection", func(printed string) bool { return worst(printed) > 150 })
		return server
	}
	s.AwaitPrinted(client, "answers")
	if v == lab.Healthy {
		s.Pause(2 * time.Second) // the compiler of the JVM is at work at first
	}
	return server
}

var p99 = regexp.MustCompile(`p99_ms ([0-9.]+)`)

// worst is the greatest p99 of a second that the client printed, ms.
func worst(printed string) float64 {
	most := 0.0
	for _, m := range p99.FindAllStringSubmatch(printed, -1) {
		if v, err := strconv.ParseFloat(m[1], 64); err == nil {
			most = max(most, v)
		}
	}
	return most
}
