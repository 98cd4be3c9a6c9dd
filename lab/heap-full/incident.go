// Package heapfull makes a Java server whose heap is nearly full: its collections are many,
// and short.
package heapfull

import (
	"time"

	"snag/lab"
	runtimepause "snag/lab/runtime-pause"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "heap-full",
	Title: "a Java server's heap is nearly full: it is collected several times per second, none of which takes long",
	Needs: runtimepause.Incident.Needs,
	Want: lab.Want{
		Suspect:  "heap-full",
		Subject:  `java`,
		Symptoms: []string{"request-latency"},
		Also:     []string{"cpu-saturated"},
	},
	Distractor: "the same server with room in its heap and requests that make much garbage: its young generation is collected as often",
	Start:      start,
}

// start keeps 60 MB of entries in a heap of 71 MiB. With room the same entries are replaced
// as fast.
func start(s *lab.Stage, v lab.Variant) error {
	l := runtimepause.Load{Entries: 3_000_000, Rate: lab.At(s, 400_000, 1_200_000, 3_000_000), Heap: 71}
	late := 40.0
	if v != lab.Sick {
		l.Heap, late = 768, 0
	}
	if v == lab.Distractor {
		l.Scratch = 128 << 10
	}
	runtimepause.Serve(s, l, late, "-XX:+UseParallelGC", "-Xmn4m")
	if v != lab.Sick {
		s.Pause(2 * time.Second) // the compiler of the JVM is at work at first
	}
	return s.Err()
}
