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
		Suspect: "heap-full", // which the pauses come from
		Subject: `java`,
		Said:    "runtime-pause",
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

// Load is what a server keeps and replaces.
type Load struct {
	Entries int // of 16 bytes, and 4 for the reference
	Rate    int // replaced per second
	Heap    int // MiB
	Scratch int // bytes that each request allocates
}

func start(s *lab.Stage, v lab.Variant) error {
	l := lab.At(s, Load{8_000_000, 2_000_000, 208, 0}, Load{16_000_000, 3_000_000, 400, 0}, Load{17_000_000, 5_000_000, 410, 0})
	server := serve(s, v, l, "-XX:+UseSerialGC", "-Xmn16m")
	if v == lab.Distractor {
		s.Actor("", "backup-script", "stopper", []string{"--pid", strconv.Itoa(server.PID), "--stop", "2500ms", "--run", "1s"})
		s.AwaitState(server, 'T')
	}
	return s.Err()
}

// serve starts the server with its heap nearly full in the sick variant, and with room in
// the others.
func serve(s *lab.Stage, v lab.Variant, l Load, flags ...string) *lab.Process {
	if v == lab.Sick {
		return Serve(s, l, 150, flags...)
	}
	l.Entries /= 80
	server := Serve(s, l, 0, flags...)
	if v == lab.Healthy {
		s.Pause(2 * time.Second) // the compiler of the JVM is at work at first
	}
	return server
}

// Serve starts a server and its clients and returns once answers come, or once one of a
// hundred took that many ms.
func Serve(s *lab.Stage, l Load, late float64, flags ...string) *lab.Process {
	ns := s.Netns("shop")
	s.Command("", "javac", "-d", s.Dir(), s.File("PauseServer.java", source))
	heap := fmt.Sprintf("%dm", l.Heap)
	argv := append([]string{"java", "-Xms" + heap, "-Xmx" + heap, "-Xlog:gc,safepoint:file=" + filepath.Join(s.Dir(), "gc.log")}, flags...)
	server := s.Run(ns, "java", append(argv,
		"-cp", s.Dir(), "PauseServer", "8080", strconv.Itoa(l.Entries), strconv.Itoa(l.Rate), strconv.Itoa(l.Scratch)))
	s.AwaitPrinted(server, "ready")
	client := s.Actor(ns, "client", "rr-client", []string{"--to", "127.0.0.1:8080", "--conns", "8", "--every", "50ms", "--open"})
	s.AwaitPrinted(client, "answers")
	if late > 0 {
		s.AwaitOutput(client, "answers waited for a collection", func(printed string) bool { return worst(printed) > late })
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
