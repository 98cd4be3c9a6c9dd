// Package varnish draws incidents of Varnish, most of whose answers come from its origin.
package varnish

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/upstreams"
)

const subject = `varnish|cache-main|:8080|` + upstreams.Subject

// Family draws a Varnish before its origins.
var Family = drawn.Family{
	Name: "varnish", Kind: drawn.Proxy, Origin: drawn.Real, Software: []string{"Varnish"},
	Needs: []lab.Tool{lab.IP, {Command: "varnishd", Package: "varnish"}, {Command: "gcc", Package: "gcc"}, {Command: pyclient.Python, Package: "python3"}},
	Faults: []drawn.Fault{
		{Name: "origin-slow", Suspects: []string{"slow-dependency"}, Subject: subject, Account: "sleep"},
		{Name: "origin-down", Suspects: []string{"upstream-refused", "service-killed"}, Subject: subject, Also: []string{"error-answers"}, Account: "errors"},
		{Name: "origin-stopped", Suspects: []string{"process-stopped"}, Subject: subject, Also: []string{"slow-dependency", "error-answers"}, Account: "stopped"},
		{Name: "max-connections", Suspects: []string{"pool-exhausted", "connection-limit"}, Subject: subject, Also: []string{"error-answers"}, Account: "errors", Whole: true},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	n := b.Net()
	l := b.LoadOf(800)
	l.Fresh = b.Chance("a connection for each request", 0.3)
	takes := b.Duration("answers take", time.Millisecond, 200*time.Millisecond)
	if b.Fault.Name == "max-connections" { // so many at once that one is too few
		takes = max(takes, time.Duration(1.5/l.Rate*float64(time.Second)))
		l.Conns = max(l.Conns, 8)
	}
	up := upstreams.Start(b, n.Server, l.Size, takes, "origin-down", "origin-slow", "origin-stopped")
	most := ""
	share := b.LogUniform("connections to origins, of what is needed", 0.2, 1)
	if few := max(1, int(share*l.Rate*takes.Seconds()/float64(len(up.Addrs)))); b.Built("max-connections") {
		most = fmt.Sprintf(" .max_connections = %d;", few)
		b.Amount("max_connections %d to each of %d origins, for %.0f requests per second of %v", few, len(up.Addrs), l.Rate, takes)
	}
	var vcl strings.Builder
	vcl.WriteString("vcl 4.1;\nimport directors;\n")
	first := b.Int("first_byte_timeout s", 2, 60)
	for i, at := range up.Addrs {
		host, port, _ := strings.Cut(at, ":")
		fmt.Fprintf(&vcl, "backend s%d { .host = \"%s\"; .port = \"%s\"; .first_byte_timeout = %ds;%s }\n", i, host, port, first, most)
	}
	vcl.WriteString("sub vcl_init { new app = directors.round_robin(); ")
	for i := range up.Addrs {
		fmt.Fprintf(&vcl, "app.add_backend(s%d); ", i)
	}
	// A personal page is never kept.
	vcl.WriteString("}\nsub vcl_recv { set req.backend_hint = app.backend(); return (pass); }\n")
	dir := filepath.Join(b.Dir(), "varnish")
	b.Run(n.Server, "varnishd", []string{"varnishd", "-F", "-j", "none", "-n", dir, "-a", n.At(8080), "-f", b.File("site.vcl", vcl.String()), "-s", "malloc,16M",
		"-T", "none", "-p", "thread_pool_min=50", "-p", "vsl_space=4M"})
	b.Await("Varnish to listen", 25*time.Second, b.Listens(n.Server, ":8080"))
	pyclient.Start(b, n.Client, "web-client", "http", n.At(8080), l, "path=/", fmt.Sprintf("timeout=%.1f", b.LogUniform("clients give up after s", 1, 20)))
}
