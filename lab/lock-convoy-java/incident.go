// Package lockconvoyjava makes a Java server whose threads share one connection to a
// backend in a synchronized method, which returns when the backend has answered.
package lockconvoyjava

import (
	_ "embed"
	"fmt"
	"strconv"
	"time"

	"snag/lab"
)

// Incident is lock-convoy in a JVM, whose monitors park each waiter on a word of its own.
var Incident = lab.Incident{
	Name:  "lock-convoy-java",
	Title: "24 threads of a Java server share one connection to a backend in a synchronized method",
	Long:  true,
	Needs: []lab.Tool{lab.IP, {Command: "java", Package: "default-jdk-headless"}, {Command: "javac", Package: "default-jdk-headless"}},
	Want: lab.Want{
		Suspect:  "lock-convoy",
		Subject:  `java`,
		Symptoms: []string{"request-latency"},
	},
	Distractor: "each thread has its own connection, and thrice as many threads wait in LinkedBlockingQueue.take for work that never comes",
	Start:      start,
}

//go:embed server/SharedServer.java
var source string

const threads = 24

func start(s *lab.Stage, v lab.Variant) error {
	ns := s.Netns("api")
	backend := s.Actor(ns, "backend", "rr-server", []string{"--listen", "127.0.0.1:5432", "--wait", "20ms"})
	s.AwaitPrinted(backend, "ready")
	s.Command("", "javac", "-d", s.Dir(), s.File("SharedServer.java", source))
	how := map[lab.Variant]string{lab.Sick: "shared", lab.Healthy: "own", lab.Distractor: "pool"}[v]
	idle := 0
	if v == lab.Distractor {
		idle = 3 * threads
	}
	server := s.Run(ns, "java", []string{"java", "-XX:+UseSerialGC", "-Xmx128m", "-cp", s.Dir(), "SharedServer", "8080", how, "5432", strconv.Itoa(idle)})
	s.AwaitPrinted(server, "ready")
	// The backend answers 50 requests per second on the shared connection. Clients
	// send at their own pace, whether they were answered or not.
	every := lab.At(s, 400*time.Millisecond, 250*time.Millisecond, 100*time.Millisecond)
	client := s.Actor(ns, "client", "rr-client", []string{"--to", "127.0.0.1:8080", "--conns", fmt.Sprint(threads), "--every", every.String(), "--open"})
	s.AwaitPrinted(client, "answers")
	s.Pause(2 * time.Second) // the compiler of the JVM is at work at first
	return s.Err()
}
