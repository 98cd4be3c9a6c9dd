// Package haproxy draws incidents of HAProxy.
package haproxy

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/upstreams"
)

const subject = `haproxy|:8080|` + upstreams.Subject

// Family draws an HAProxy before its upstreams.
var Family = drawn.Family{
	Name: "haproxy", Kind: drawn.Proxy, Origin: drawn.Real, Software: []string{"HAProxy"},
	Needs: []lab.Tool{lab.IP, {Command: "haproxy", Package: "haproxy"}, {Command: pyclient.Python, Package: "python3"}},
	Faults: []drawn.Fault{
		{Name: "server-maxconn", Suspects: []string{"pool-exhausted"}, Subject: subject, Also: []string{"slow-dependency", "error-answers"}, Account: "in line"},
		{Name: "frontend-maxconn", Suspects: []string{"connection-limit"}, Subject: subject, Also: []string{"listen-overflow"}, Account: "accept queue", Whole: true},
		{Name: "backend-down", Suspects: []string{"upstream-refused", "service-killed"}, Subject: subject, Also: []string{"error-answers"}, Account: "errors"},
		{Name: "backend-slow", Suspects: []string{"slow-dependency"}, Subject: subject, Account: "sleep"},
		{Name: "backend-stopped", Suspects: []string{"process-stopped"}, Subject: subject, Also: []string{"slow-dependency", "error-answers"}, Account: "stopped"},
		{Name: "rate-limit", Suspects: []string{"error-answers"}, Subject: subject, Account: "errors", Whole: true},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	n := b.Net()
	l := b.LoadOf(800)
	l.Fresh = b.Chance("a connection for each request", 0.3)
	takes := b.Duration("answers take", time.Millisecond, 100*time.Millisecond)
	switch b.Fault.Name {
	case "frontend-maxconn":
		l.Conns, l.Fresh = max(l.Conns, 8), false
	case "server-maxconn": // enough to do that one at a time is too few
		takes = max(takes, time.Duration(1.5/l.Rate*float64(time.Second)))
		l.Conns = max(l.Conns, 8)
	}
	up := upstreams.Start(b, n.Server, l.Size, takes, "backend-down", "backend-slow", "backend-stopped")

	var servers strings.Builder
	check := b.Chance("health checks", 0.5)
	for i, at := range up.Addrs {
		fmt.Fprintf(&servers, "	server s%d %s maxconn 200", i, at)
		if check {
			fmt.Fprintf(&servers, " check inter %dms", b.Int("health checks every ms", 300, 3000))
		}
		servers.WriteString("\n")
	}
	frontend, limit := 2000, ""
	if share := b.Uniform("connections allowed, of the clients'", 0.3, 0.95); b.Built("frontend-maxconn") {
		frontend = max(1, int(share*float64(l.Conns)))
		b.Amount("maxconn %d for %d clients", frontend, l.Conns)
	}
	if share := b.Uniform("requests per second that are let through, of all", 0.3, 0.95); b.Built("rate-limit") {
		limit = fmt.Sprintf("	stick-table type string len 8 size 10 expire 10s store http_req_rate(1s)\n	http-request track-sc0 str(all)\n	http-request deny deny_status 429 if { sc_http_req_rate(0) gt %d }\n", int(share*l.Rate))
		b.Amount("%.0f requests per second are let through of %.0f", share*l.Rate, l.Rate)
	}
	admin := filepath.Join(b.Dir(), "haproxy.sock")
	conf := fmt.Sprintf(`global
	maxconn 4000
	nbthread %d
	stats socket %s mode 600 level admin
defaults
	mode http
	retries %d
	timeout connect 2s
	timeout client 60s
	timeout server %dms
	timeout queue %dms
frontend web
	bind %s
	maxconn %d
%s	default_backend app
backend app
	balance %s
%s`, b.Int("threads", 1, 4), admin, drawn.Pick(b.Draw, "retries", 0, 3), b.Int("timeout server ms", 2000, 60000), b.Int("timeout queue ms", 500, 20000), n.At(8080), frontend, limit,
		drawn.Pick(b.Draw, "balance", "roundrobin", "leastconn"), servers.String())
	b.Run(n.Server, "haproxy", []string{"haproxy", "-db", "-f", b.File("haproxy.cfg", conf)})
	b.Await("HAProxy to listen", 10*time.Second, b.Listens(n.Server, ":8080"))
	pyclient.Start(b, n.Client, "web-client", "http", n.At(8080), l, "path=/", fmt.Sprintf("timeout=%.1f", b.LogUniform("clients give up after s", 1, 20)))

	share := b.LogUniform("connections to upstreams, of what is needed", 0.3, 1.2)
	few := max(1, int(share*l.Rate*takes.Seconds()/float64(len(up.Addrs))))
	set := func(most int) func() {
		return func() {
			for i := range up.Addrs {
				if err := tell(admin, fmt.Sprintf("set maxconn server app/s%d %d", i, most)); err != nil {
					b.Fail("haproxy", err)
				}
			}
		}
	}
	b.Switch("server-maxconn", set(few), set(200))
	if b.Fault.Name == "server-maxconn" {
		b.Amount("maxconn %d of each of %d upstreams, for %.0f requests per second of %v", few, len(up.Addrs), l.Rate, takes)
	}
}

// tell gives a command to HAProxy's administration socket.
func tell(socket, command string) error {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := c.Write([]byte(command + "\n")); err != nil {
		return err
	}
	buf := make([]byte, 512)
	n, err := c.Read(buf)
	if said := strings.TrimSpace(string(buf[:n])); said != "" {
		return fmt.Errorf("%s: %s", command, said)
	}
	if n == 0 && err != nil && err.Error() != "EOF" {
		return err
	}
	return nil
}
