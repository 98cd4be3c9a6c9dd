package serverstalljvm

import (
	"strconv"
	"strings"
	"time"

	"snag/lab/broadcast"
	"snag/lab/drawn"
	"snag/lab/origin"
)

// Family draws the incident: a Java relay between server and viewers, whose pauses are as
// long as drawn, or which is stopped from outside.
var Family = drawn.Family{
	Name: "server-stall-jvm", Kind: drawn.Streams, Origin: drawn.Lab, Needs: Incident.Needs,
	Faults: []drawn.Fault{
		{Name: "pauses", Suspects: []string{"runtime-pause"}, Subject: `java`, Also: []string{"server-stall"}, Account: "pause", Whole: true, Place: drawn.AtServer},
		{Name: "stopped", Suspects: []string{"process-stopped", "server-stall"}, Subject: `java`, Account: "stopped", Place: drawn.AtServer},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	w := broadcast.NewShow(b, broadcast.Kind{})
	b.Command("", "javac", "-J-XX:TieredStopAtLevel=1", "-proc:none", "-d", b.Dir(), b.File("PauseRelay.java", source))
	loop := 0
	pause := b.Duration("pauses last", 400*time.Millisecond, 5*time.Second)
	if b.Built("pauses") {
		loop = int(pause.Milliseconds())
		b.Amount("all threads stop for %v, 3 s after the time before", pause)
	}
	relay := b.Run(w.Server, "java", []string{"java", "-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-cp", b.Dir(), "PauseRelay",
		"1936", "10.88.2.1", "1935", strconv.Itoa(loop)})
	b.AwaitPrinted(relay, "ready")
	b.SwitchStops("stopped", relay.PID, 700*time.Millisecond, 5*time.Second)
	b.FindAt(w.Viewer, origin.URL(relayed, origin.Stream))
	w.ViewAt(relayed)
	if loop > 0 {
		b.Await("a pause", 40*time.Second, func() (bool, error) { return strings.Contains(relay.Printed(), "paused"), nil })
	}
}
