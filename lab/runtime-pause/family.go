package runtimepause

import (
	"fmt"
	"sync/atomic"
	"time"

	"snag/lab"
	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: a Java service with a large cache in a heap that has little
// room besides, with any of five collectors; its cache begins to be replaced, or an
// operator asks it for histograms of its heap.
var Family = drawn.Family{
	Name: "runtime-pause", Kind: drawn.JVM, Origin: drawn.Lab, Needs: append([]lab.Tool{{Command: "jcmd", Package: "default-jdk-headless"}}, anyserver.Needs...), Alone: true,
	Faults: []drawn.Fault{
		{Name: "heap-nearly-full", Suspects: []string{"runtime-pause", "heap-full"}, Subject: `java|AnyServer|:8080`, Also: []string{"cpu-saturated"}, Account: "pause"},
		{Name: "histograms", Suspects: []string{"runtime-pause"}, Subject: `java|AnyServer|:8080`, Account: "pause"},
	},
	Build: buildFamily,
}

// heaps has for each collector how many entries fill how many MiB, and how many of them,
// replaced per second, keep it busy; sizes are drawn as parts of these.
var heaps = map[string]struct {
	flags   []string
	entries int
	heap    int
	churn   int
	scratch int
}{
	"serial":     {[]string{"-XX:+UseSerialGC", "-Xmn16m"}, 16_000_000, 400, 3_000_000, 0},
	"parallel":   {[]string{"-XX:+UseParallelGC", "-Xmn8m"}, 5_000_000, 132, 4_000_000, 0},
	"G1":         {[]string{"-XX:+UseG1GC"}, 16_000_000, 360, 5_000_000, 0},
	"ZGC":        {[]string{"-XX:+UseZGC"}, 9_000_000, 290, 1_000_000, 512 << 10},
	"Shenandoah": {[]string{"-XX:+UseShenandoahGC"}, 12_000_000, 290, 4_000_000, 256 << 10},
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	of := heaps[drawn.Pick(b.Draw, "collector", "serial", "parallel", "G1", "ZGC", "Shenandoah")]
	part := b.Uniform("cache, of the largest", 0.25, 0.6)
	o := anyserver.Options{Language: anyserver.Java, Workers: b.Int("workers", 4, 32), Live: int(part * float64(of.entries))}
	heap := int(part * float64(of.heap))
	if b.Fault.Name == "histograms" { // it has room, and what it holds is looked at
		heap *= 3
	}
	o.JVM = append([]string{fmt.Sprintf("-Xmx%dm", heap), fmt.Sprintf("-Xms%dm", heap)}, of.flags...)
	o.Work = b.Duration("CPU time of a request", 20*time.Microsecond, time.Millisecond)
	if b.Chance("requests wait", 0.5) {
		o.Wait = b.Duration("time of a request besides", 500*time.Microsecond, 40*time.Millisecond)
	}
	o.Most = 300
	l := o.LoadOf(b, net.RTT, 0)
	server := anyserver.Start(b, net.Server, "catalogue", net.At(8080), o)
	churn := int(float64(of.churn) * b.LogUniform("replaced, of the most", 0.3, 1))
	b.Switch("heap-nearly-full", func() {
		server.Tell("churn %d", churn)
		server.Tell("scratch %d", min(of.scratch, int(40e6/l.Rate)))
	}, func() {
		server.Tell("churn 0")
		server.Tell("scratch 0")
	})
	every := b.Duration("a histogram every", 500*time.Millisecond, 4*time.Second)
	var asking atomic.Bool
	b.Switch("histograms", func() {
		asking.Store(true)
		go func() {
			for asking.Load() && b.Context().Err() == nil {
				_, _ = b.Output("", "jcmd", fmt.Sprint(server.PID), "GC.class_histogram") // fails when the run ends meanwhile
				time.Sleep(every)
			}
		}()
	}, func() { asking.Store(false) })
	if b.Fault.Name == "histograms" {
		b.Amount("an operator asks for a histogram of %d objects, %v after the one before", o.Live, every)
	} else {
		b.Amount("%d of %d entries are replaced per second in a heap of %d MiB", churn, o.Live, heap)
	}
	b.Ask(net.Client, "catalogue-users", net.At(8080), l)
}
