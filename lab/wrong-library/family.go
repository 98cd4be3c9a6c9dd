package wronglibrary

import (
	"fmt"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/actor"
	"snag/lab/drawn"
)

// Family draws the incident: a server whose requests cost several times the CPU time with
// another build of its library. Only a recording of a better time can tell (--baselines).
var Family = drawn.Family{
	Name: "wrong-library", Kind: drawn.Inside, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP},
	Faults: []drawn.Fault{
		{Name: "other-build", Suspects: []string{"wrong-library"}, Subject: `codec-server|:9000`, Also: []string{"busy-thread"}, Account: "work", Whole: true},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	good := b.Duration("a request costs", 200*time.Microsecond, 5*time.Millisecond)
	slow := time.Duration(float64(good) * b.LogUniform("times as much with the other build", 2, 8))
	l := b.LoadOf(1 / slow.Seconds()).Within(net.RTT + slow)
	cost, version := good, "1.0 avx2"
	if b.Built("other-build") {
		cost, version = slow, "1.0 generic"
		b.Amount("a build with which each of %.0f requests per second costs %v of CPU time and not %v", l.Rate, slow.Round(time.Microsecond), good.Round(time.Microsecond))
	}
	lib := filepath.Join(b.Dir(), version[4:], "libcodec.so.1")
	b.Command("", "mkdir", "-p", filepath.Dir(lib))
	if b.Err() != nil {
		return
	}
	if err := actor.WriteCodecLibrary(lib, version, cost); err != nil {
		b.Fail("codec library", err)
		return
	}
	b.AwaitPrinted(b.Actor(net.Server, "codec-server", "rr-server", []string{"--listen", net.At(9000), "--library", lib, "--size", fmt.Sprint(l.Size)}), "ready")
	b.Ask(net.Client, "codec-client", net.At(9000), l)
}
