package heapfull

import (
	"fmt"
	"time"

	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: a Java service whose heap has little more room than what lives
// in it, with three collectors. It was given too small a heap, or what lives in it begins to
// be replaced.
var Family = drawn.Family{
	Name: "heap-full", Kind: drawn.JVM, Origin: drawn.Lab, Needs: anyserver.Needs, Alone: true,
	Faults: []drawn.Fault{
		{Name: "small-heap", Suspects: []string{"heap-full", "runtime-pause"}, Subject: subject, Also: []string{"cpu-saturated"}, Account: "pause", Whole: true},
		{Name: "replaces-more", Suspects: []string{"heap-full", "runtime-pause"}, Subject: subject, Also: []string{"cpu-saturated"}, Account: "pause"},
	},
	Build: buildFamily,
}

const subject = `java|AnyServer|:8080`

// entry is how many bytes one takes with its reference; 16 of them are garbage when it is
// replaced.
const entry = 20

// collectors cope with entries in such a share of a small heap, without what new objects and
// the JVM itself take of it (besides, MiB).
var collectors = map[string]struct {
	flag        string
	small       []string
	besides     int
	least, most float64
}{
	"serial":   {"-XX:+UseSerialGC", []string{"-Xmn4m"}, 7, 0.84, 0.93},
	"parallel": {"-XX:+UseParallelGC", []string{"-Xmn4m"}, 8, 0.84, 0.93},
	"G1":       {"-XX:+UseG1GC", nil, 6, 0.8, 0.9},
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	of := collectors[drawn.Pick(b.Draw, "collector", "serial", "parallel", "G1")]
	live := b.LogUniform("MiB that live", 16, 64)
	old := live / b.Uniform("share of the heap that lives", of.least, of.most)
	o := anyserver.Options{Language: anyserver.Java, Workers: b.Int("workers", 4, 32), Live: int(live * (1 << 20) / entry)}
	o.Work = b.Duration("CPU time of a request", 20*time.Microsecond, time.Millisecond)
	if b.Chance("requests wait", 0.5) {
		o.Wait = b.Duration("time of a request besides", 500*time.Microsecond, 40*time.Millisecond)
	}
	o.Most = 300
	// So much garbage that the room is used up about once to six times per second.
	garbage := min(25, (old-live)*b.LogUniform("room, used up per second", 1, 6))
	churn := int(garbage * (1 << 20) / 16)
	// With room, nothing is collected within half a minute.
	roomy := int(1.25 * (32 + live + 30*garbage))
	heap, young := roomy+4*int(old), []string{fmt.Sprintf("-Xmn%dm", roomy)}
	if b.Fault.Name == "replaces-more" || b.Built("small-heap") {
		heap, young = of.besides+int(old)+1, of.small
	}
	o.JVM = append([]string{of.flag, fmt.Sprintf("-Xmx%dm", heap), fmt.Sprintf("-Xms%dm", heap)}, young...)
	l := o.LoadOf(b, net.RTT, 0)
	server := anyserver.Start(b, net.Server, "catalogue", net.At(8080), o)
	on, off := server.Tells(fmt.Sprint("churn ", churn), "churn 0")
	b.Switch("replaces-more", on, off)
	if b.Fault.Name == "small-heap" {
		on()
		b.Amount("a heap of %d MiB for %.0f MiB that live, of which %d entries are replaced per second", heap, live, churn)
	} else {
		b.Amount("%d of %d entries are replaced per second in a heap of %d MiB", churn, o.Live, heap)
	}
	b.Ask(net.Client, "catalogue-users", net.At(8080), l)
}
