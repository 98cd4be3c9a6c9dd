package cputhrottled

import (
	"time"

	"snag/lab"
	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: a service that computes, in any language, in a control group
// whose quota is around what it needs.
var Family = drawn.Family{
	Name: "cpu-throttled", Kind: drawn.Host, Origin: drawn.Lab, Needs: anyserver.Needs,
	Faults: []drawn.Fault{{
		Name: "small-quota", Suspects: []string{"cpu-throttled"}, Subject: `-web|` + anyserver.Subject("api-server", ":8081"), Account: "quota",
	}},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	web := b.Cgroup("web", 0)
	o := anyserver.Options{Language: anyserver.LanguageOf(b, "server"), Workers: b.Int("workers", 4, 32), Run: []lab.Option{lab.In(web)}}
	o.Work = b.Duration("CPU time of a request", 300*time.Microsecond, 8*time.Millisecond)
	if b.Chance("requests wait", 0.4) {
		o.Wait = b.Duration("time of a request besides", time.Millisecond, 40*time.Millisecond)
	}
	l := o.LoadAt(b, b.LogUniform("CPU share that is needed", 0.03, 0.3)/o.CPU().Seconds(), net.RTT, 0)
	o.Workers = max(o.Workers, int(2.5*l.Rate*(o.Work+o.Wait).Seconds()))
	anyserver.Start(b, net.Server, "api-server", net.At(8081), o)
	quota := max(0.01, l.Rate*o.CPU().Seconds()*b.LogUniform("quota, of what is needed", 0.2, 1))
	b.SwitchQuota("small-quota", web, quota)
	b.Amount("a quota of %.1f %% of a CPU for a need of %.1f %%", 100*quota, 100*l.Rate*o.CPU().Seconds())
	b.Ask(net.Client, "api-client", net.At(8081), l)

}
