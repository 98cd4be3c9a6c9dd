package swap

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a service's control group may hold less memory than its
// requests use; the rest goes to swap.
var Family = drawn.Family{
	Name: "swap", Kind: drawn.Host, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.Mkswap}, Alone: true,
	Faults: []drawn.Fault{{
		Name: "little-memory", Suspects: []string{"swap", "memory-limit"}, Subject: `cache-server|-little|:8081`, Also: []string{"disk-stall"}, Account: "memory",
	}},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	b.Swap(256)
	group := b.LittleMemory("little", 0)
	heap := b.Int("MiB that requests use", 48, 128)
	pages := b.Int("pages of a request", 10, 1000)
	spin := b.Duration("CPU time of a request", 20*time.Microsecond, time.Millisecond)
	server := b.Actor(net.Server, "cache-server", "loop-server", []string{
		"--listen", net.At(8081), "--heap", fmt.Sprint(heap), "--pages", fmt.Sprint(pages), "--spin", spin.String(), "--size", "128",
	}, lab.In(group))
	b.AwaitPrinted(server, "ready")
	l := b.LoadOf(min(400, 0.5/(spin+time.Duration(pages)*300*time.Nanosecond+60*time.Microsecond).Seconds()))
	l.Size = 128
	l.Conns = max(l.Conns, int(2*l.Rate*(net.RTT+2*time.Millisecond).Seconds())+1)
	limit := max(16, int(float64(heap)*b.Uniform("memory that it may hold, of that", 0.3, 1.05)))
	b.Switch("little-memory", func() { go b.LimitMemory(group, limit) }, func() { go b.LimitMemory(group, 1<<12) })
	b.Amount("%d MiB of memory for %d MiB that requests use, %d pages each", limit, heap, pages)
	b.Ask(net.Client, "cache-client", net.At(8081), l)
}
