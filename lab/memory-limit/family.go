package memorylimit

import (
	"fmt"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: a service in any language begins to keep memory of each
// request, until its control group holds as much as it may and the kernel kills it; or a
// group may hold less than the files that its service reads, which go out and come back.
var Family = drawn.Family{
	Name: "memory-limit", Kind: drawn.Host, Origin: drawn.Lab, Needs: anyserver.Needs, Alone: true,
	Faults: []drawn.Fault{
		{Name: "grows", Suspects: []string{"memory-limit"}, Subject: subject, Also: []string{"service-killed", "peer-reset"}, Account: "errors"},
		{Name: "little-cache", Suspects: []string{"memory-limit"}, Subject: subject, Also: []string{"disk-stall"}, Account: "memory"},
	},
	Build: buildFamily,
}

var subject = anyserver.Subject("price-server|-little", ":8081")

func buildFamily(b *drawn.Bench) {
	if net := b.Net(); b.Fault.Name == "grows" {
		grows(b, net)
	} else {
		reads(b, net)
	}
}

// itself is about how much memory a server in a language has without requests, MiB.
var itself = map[anyserver.Language]int{anyserver.C: 16, anyserver.Go: 48, anyserver.Java: 140, anyserver.Python: 40, anyserver.Node: 110}

func grows(b *drawn.Bench, net drawn.Net) {
	o := anyserver.Ordinary(b, "server")
	// Its own limit is far above that of the group, as where nobody thought of both.
	o.JVM = []string{"-XX:+UseSerialGC", "-Xms16m", "-Xmx2g"}
	room := b.Int("MiB to spare", 16, 128)
	group := b.LittleMemory("little", itself[o.Language]+room)
	away := b.Duration("away for", 50*time.Millisecond, 2*time.Second)
	o.Start = func(argv []string) *lab.Process {
		return b.Actor(net.Server, "supervisor", "supervisor", append([]string{"--away", away.String(), "--"}, argv...), lab.In(group))
	}
	l := o.LoadOf(b, net.RTT, 0)
	server := anyserver.Start(b, net.Server, "price-server", net.At(8081), o)
	more := int(float64(room<<20) / l.Rate / b.LogUniform("seconds until that is used", 0.5, 4))
	on, off := server.Repeats(fmt.Sprint("grow ", more), "grow 0", 200*time.Millisecond)
	b.Switch("grows", on, off)
	b.Amount("each of %.0f requests per second keeps %d KiB, and there are %d MiB to spare", l.Rate, more>>10, room)
	b.Ask(net.Client, "shop", net.At(8081), l)
}

// reads is a service whose requests read pages of a file that lies in the page cache.
func reads(b *drawn.Bench, net drawn.Net) {
	file, pages := b.Int("MiB of the file", 32, 160), b.Int("pages of a request", 30, 1000)
	spin := b.Duration("CPU time of a request", 20*time.Microsecond, time.Millisecond)
	group := b.LittleMemory("little", 0)
	server := b.Actor(net.Server, "price-server", "loop-server", []string{
		"--listen", net.At(8081), "--heap", fmt.Sprint(file), "--file", filepath.Join(b.Dir(), "prices"), "--pages", fmt.Sprint(pages), "--spin", spin.String(), "--size", "128",
	}, lab.In(group))
	b.AwaitPrinted(server, "ready")
	l := b.LoadOf(min(400, 0.5/(spin+time.Duration(pages)*time.Microsecond+60*time.Microsecond).Seconds()))
	l.Size = 128
	l = l.Within(net.RTT + 2*time.Millisecond)
	limit := 16 + int(float64(file)*b.Uniform("memory for it, of its size", 0.1, 0.8))
	b.Switch("little-cache", func() { go b.LimitMemory(group, limit) }, func() { go b.LimitMemory(group, 1<<12) })
	b.Amount("%d MiB of memory for a service that reads a file of %d MiB, %d pages of it for each of %.0f requests per second", limit, file, pages, l.Rate)
	b.Ask(net.Client, "shop", net.At(8081), l)
}
