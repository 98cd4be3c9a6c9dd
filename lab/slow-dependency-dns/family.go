package slowdns

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident, and slow-dependency-dns-answers: a service, in any language,
// that looks a name up for each request; its first name server falls silent, or answers
// late.
var Family = drawn.Family{
	Name: "slow-dependency-dns", Kind: drawn.Inside, Origin: drawn.Lab, Needs: append([]lab.Tool{lab.Unshare}, anyserver.Needs...),
	Faults: []drawn.Fault{
		{Name: "silent", Suspects: []string{"slow-dependency"}, Subject: subject, Also: []string{"worker-queue"}, Account: "call"},
		{Name: "late", Suspects: []string{"slow-dependency"}, Subject: subject, Also: []string{"worker-queue"}, Account: "call"},
	},
	Build: buildFamily,
}

const subject = `10\.78\.7\.2|:53\b|named1`

func buildFamily(b *drawn.Bench) {
	net, dns := b.Net(), b.Netns("dns")
	b.Veth(lab.End{Netns: net.Server, Device: "eth1", Addr: "10.78.7.1/24"}, lab.End{Netns: dns, Device: "eth0", Addr: "10.78.7.2/24"})
	b.Command(dns, "ip", "addr", "add", "10.78.7.3/24", "dev", "eth0")
	late := b.Duration("late name server takes", 20*time.Millisecond, 1500*time.Millisecond)
	timeout := drawn.Pick(b.Draw, "resolv.conf's timeout", 1, 2, 5)
	how := []string{"--then", "slow", "--slow", late.String()}
	if b.Fault.Name == "silent" {
		how = []string{"--then", "silent"}
	}
	first := b.Actor(dns, "named1", "name-server", append([]string{"--listen", "10.78.7.2:53"}, how...))
	b.AwaitPrinted(first, "ready")
	b.AwaitPrinted(b.Actor(dns, "named2", "name-server", []string{"--listen", "10.78.7.3:53"}), "ready")
	o := anyserver.Options{Language: anyserver.LanguageOf(b, "server"), Workers: b.Int("server's workers", 8, 64), Names: true}
	o.Resolv = fmt.Sprintf("nameserver 10.78.7.2\nnameserver 10.78.7.3\noptions timeout:%d\n", timeout)
	o.Work = b.Duration("CPU time of a request", 20*time.Microsecond, time.Millisecond)
	if b.Chance("requests wait", 0.5) {
		o.Wait = b.Duration("time of a request besides", 500*time.Microsecond, 40*time.Millisecond)
	}
	const lookup = 2 * time.Millisecond
	l := o.LoadAt(b, b.LogUniform("requests per second", 5, 200), net.RTT, lookup)
	o.Workers = max(o.Workers, int(2.5*l.Rate*(lookup+o.Work+o.Wait).Seconds()))
	anyserver.Start(b, net.Server, "mail-server", net.At(8080), o)
	turn := func() { b.Signal(first, syscall.SIGUSR2) }
	b.Switch("silent", turn, turn)
	b.Switch("late", turn, turn)
	if b.Fault.Name == "silent" {
		b.Amount("the first name server answers nothing: the second is asked after %d s", timeout)
	} else {
		b.Amount("the name server answers after %v", late)
	}
	b.Ask(net.Client, "mail-client", net.At(8080), l)
}
