// Package serverstalljvm puts a Java relay, which stands still at safepoints, between a server and its viewers.
package serverstalljvm

import (
	_ "embed"
	"strconv"
	"strings"
	"time"

	"snag/lab"
	"snag/lab/broadcast"
	"snag/lab/origin"
)

// Incident is the cause of that name, by a runtime that pauses.
var Incident = lab.Incident{
	Name:  "server-stall-jvm",
	Title: "a Java relay between server and viewer stops for some seconds whenever it collects its garbage",
	Long:  true,
	Needs: append([]lab.Tool{{Command: "java", Package: "default-jdk-headless"}, {Command: "javac", Package: "default-jdk-headless"}}, broadcast.Tools...),
	Want: lab.Want{
		Suspect:  "runtime-pause",
		Subject:  `java`,
		Symptoms: []string{"stream-freeze"},
		Said:     "server-stall",
	},
	Distractor: "a script stops the relay for as long (SIGSTOP)",
	DistractorWant: lab.Want{
		Suspect:  "process-stopped",
		Subject:  `java`,
		Symptoms: []string{"stream-freeze"},
		Said:     "server-stall",
	},
	Start: start,
}

//go:embed relay/PauseRelay.java
var source string

const relayed = "10.88.2.1:1936"

func start(s *lab.Stage, v lab.Variant) error {
	b := broadcast.New(s)
	b.Encode(broadcast.FileClock, "")
	s.Command("", "javac", "-d", s.Dir(), s.File("PauseRelay.java", source))
	loop := 0
	if v == lab.Sick {
		loop = lab.At(s, 2500, 3500, 6000)
	}
	relay := s.Run(b.Server, "java", []string{"java", "-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-cp", s.Dir(), "PauseRelay",
		"1936", "10.88.2.1", "1935", strconv.Itoa(loop)})
	s.AwaitPrinted(relay, "ready")
	b.Watch(origin.URL(relayed, origin.Stream))
	switch v {
	case lab.Sick:
		s.Await("a long pause", 40*time.Second, func() (bool, error) { return strings.Contains(relay.Printed(), "paused"), nil })
	case lab.Distractor:
		b.StopAgain(relay.PID, "4s", "3s")
		s.AwaitState(relay, 'T')
	}
	return s.Err()
}
