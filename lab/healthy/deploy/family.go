// Package deploy has deployments that nobody notices: servers that are drained, ended and
// started again behind a proxy.
package deploy

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/healthy/site"
)

// Rolling restarts app servers behind HAProxy one after the other, in the window.
var Rolling = drawn.Family{
	Name: "rolling-restart", Kind: drawn.Proxy, Origin: drawn.Healthy, Software: []string{"HAProxy", "Python's http.server"}, Noisy: true,
	Needs: []lab.Tool{lab.IP, site.Python, {Command: "haproxy", Package: "haproxy"}}, Build: func(b *drawn.Bench) {
		net := b.Net()
		n := b.Int("app servers", 2, 4)
		inter := b.Duration("checks every", 80*time.Millisecond, 200*time.Millisecond)
		work := b.Duration("work of an answer", 100*time.Microsecond, 2*time.Millisecond)
		// Drained until two checks and some have failed.
		master := site.Program(b, net.Server, "rolling", "rolling.py", "127.0.0.1", 8001, n, site.Path(b, "app.py"), work, 4*inter+200*time.Millisecond)
		haproxy(b, net, n, inter)
		site.Pages(b, net, net.At(80), "/page", 500)
		begin(b, func() { b.Signal(master, syscall.SIGUSR1) })
	},
}

func haproxy(b *drawn.Bench, net drawn.Net, n int, inter time.Duration) {
	var text strings.Builder
	fmt.Fprintf(&text, `global
    maxconn 2000
defaults
    mode http
    timeout connect 5s
    timeout check 3s
    timeout client 60s
    timeout server 60s
    retries 3
    option redispatch 1
    retry-on all-retryable-errors
frontend site
    bind %s:80
    default_backend apps
backend apps
    option httpchk GET /health
    http-reuse %s
    default-server check inter %d fall 2 rise 1
`, net.Addr, drawn.Pick(b.Draw, "connections to the servers", "never", "safe", "always"), inter.Milliseconds())
	for i := range n {
		fmt.Fprintf(&text, "    server app%d 127.0.0.1:%d\n", i, 8001+i)
	}
	b.Run(net.Server, "haproxy", []string{"haproxy", "-db", "-f", b.File("haproxy.cfg", text.String())})
	b.Await("haproxy to listen", 10*time.Second, b.Listens(net.Server, ":80"))
}

// Reload is nginx that reads its configuration anew, once or several times in the window.
var Reload = drawn.Family{
	Name: "nginx-reload", Kind: drawn.Proxy, Origin: drawn.Healthy, Software: []string{"nginx"}, Noisy: true,
	Needs: site.WebNeeds(), Build: func(b *drawn.Bench) {
		s := site.Web(b)
		s.Browse(b)
		times, pause := b.Int("reloads", 1, 4), b.Duration("between reloads", 300*time.Millisecond, time.Second)
		begin(b, func() {
			for range times {
				b.Signal(s.Server, syscall.SIGHUP)
				time.Sleep(pause)
			}
		})
	},
}

// BlueGreen is nginx that is switched from one app server to another, of which the old one
// then ends.
var BlueGreen = drawn.Family{
	Name: "blue-green", Kind: drawn.Proxy, Origin: drawn.Healthy, Software: []string{"nginx", "Python's http.server"}, Noisy: true,
	Needs: site.WebNeeds(), Build: func(b *drawn.Bench) {
		net := b.Net()
		work := b.Duration("work of an answer", 100*time.Microsecond, 2*time.Millisecond)
		ends := b.Duration("blue ends after", 500*time.Millisecond, 2*time.Second)
		blue := b.Run(net.Server, "app-blue", app(b, "app-blue", 8001, work, ends), lab.MayEnd())
		b.AwaitPrinted(blue, "ready")
		green := b.Run(net.Server, "app-green", app(b, "app-green", 8002, work, ends))
		b.AwaitPrinted(green, "ready")
		b.File("app.conf", "server 127.0.0.1:8001;\n")
		kept := drawn.Pick(b.Draw, "kept connections to the app", "", "keepalive 8;")
		web := site.NginxOf(b, net, "upstream app { include DIR/app.conf; "+kept+" }",
			`server { listen ADDR:80; location / { proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection ""; } }`)
		site.Pages(b, net, net.At(80), "/page", 500)
		begin(b, func() {
			if err := os.WriteFile(b.Dir()+"/app.conf", []byte("server 127.0.0.1:8002;\n"), 0o644); err != nil {
				b.Fail("app.conf", err)
			}
			b.Signal(web, syscall.SIGHUP)
			time.Sleep(500 * time.Millisecond)
			b.Signal(blue, syscall.SIGTERM)
		})
	},
}

func app(b *drawn.Bench, name string, port int, work, drain time.Duration) []string {
	return []string{site.Python.Command, site.Path(b, "app.py"), name, fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprint(work.Seconds()), "0", "-", fmt.Sprint(drain.Seconds())}
}

// begin has a deployment begin some time into the window.
func begin(b *drawn.Bench, do func()) {
	after := b.Duration("begins after", 100*time.Millisecond, 2500*time.Millisecond)
	b.AtWindow(func() {
		if !b.Noise() {
			return
		}
		time.Sleep(after)
		do()
	})
}
