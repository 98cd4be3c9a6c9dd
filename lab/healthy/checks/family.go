// Package checks has healthy services under health checks of every form: connections that
// are closed, reset or never completed, and scans.
package checks

import (
	"fmt"
	"strings"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/healthy/site"
)

// Web is a web server that several checkers probe, each in its way.
var Web = drawn.Family{
	Name: "checks-of-a-web-server", Kind: drawn.Proxy, Origin: drawn.Healthy, Software: []string{"nginx"},
	Needs: site.WebNeeds(), Build: func(b *drawn.Bench) {
		s := site.Web(b)
		for i := range b.Int("sorts of checkers", 2, 4) {
			form := drawn.Pick(b.Draw, fmt.Sprintf("check %d", i), "connect", "rst", "syn", "head", "options", "hasty")
			check(b, s.Net, i, form, s.At(80))
		}
		s.Browse(b)
	},
}

// Redis is one that is pinged on fresh connections, as sentinels and load balancers do.
var Redis = drawn.Family{
	Name: "checks-of-a-redis", Kind: drawn.Cache, Origin: drawn.Healthy, Software: []string{"Redis"},
	Needs: []lab.Tool{lab.IP, site.Redis, site.Python}, Build: func(b *drawn.Bench) {
		s := site.RedisAt(b, b.Net())
		check(b, s.Net, 0, "redis", s.At(6379))
		check(b, s.Net, 1, drawn.Pick(b.Draw, "check 1", "connect", "rst", "syn"), s.At(6379))
	},
}

// TLS is a web server with checks that end after the handshake, or with a RST.
var TLS = drawn.Family{
	Name: "checks-of-tls", Kind: drawn.Proxy, Origin: drawn.Healthy, Software: []string{"nginx", "OpenSSL"},
	Needs: site.WebNeeds(lab.Tool{Command: "openssl", Package: "openssl"}), Build: func(b *drawn.Bench) {
		b.Command("", "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=site", "-days", "2",
			"-keyout", b.Dir()+"/key.pem", "-out", b.Dir()+"/cert.pem")
		s := site.Web(b, strings.TrimSpace(`
server { listen ADDR:443 ssl; ssl_certificate DIR/cert.pem; ssl_certificate_key DIR/key.pem; root DIR/www; }
server { listen ADDR:50051 http2; root DIR/www; }`))
		check(b, s.Net, 0, "tls", s.At(443))
		check(b, s.Net, 1, "tls-rst", s.At(443))
		check(b, s.Net, 2, drawn.Pick(b.Draw, "check 2", "connect", "rst", "syn"), s.At(443))
		check(b, s.Net, 3, "http2", s.At(50051))
		s.Browse(b)
	},
}

// Inventory is a host that an inventory tool scans, port by port.
var Inventory = drawn.Family{
	Name: "scan-of-an-inventory", Kind: drawn.Connections, Origin: drawn.Healthy, Software: []string{"nginx", "Nmap"},
	Needs: site.WebNeeds(lab.Tool{Command: "nmap", Package: "nmap"}), Build: func(b *drawn.Bench) {
		s := site.Web(b)
		s.Browse(b)
		scan := fmt.Sprintf("nmap -n -Pn %s -p 1-%d --max-rate %d --max-retries 1 %s >/dev/null", drawn.Pick(b.Draw, "scan", "-sS", "-sT", "-sS -sV"),
			b.Int("ports", 50, 2000), b.Int("probes per second", 50, 2000), s.Addr)
		pause := b.Duration("pause between scans", 100*time.Millisecond, 3*time.Second)
		b.Run(s.Client, "inventory", []string{"sh", "-c", fmt.Sprintf("while :; do %s; sleep %.3f; done", scan, pause.Seconds())}, lab.MayEnd())
	},
}

// most is how many checks of one form there are per second: more are a load of their own.
const most = 40

// check starts checkers of one form, each of which checks every 100 ms to 2 s.
func check(b *drawn.Bench, net drawn.Net, i int, form, to string) {
	every := b.Duration(fmt.Sprintf("check %d every", i), 100*time.Millisecond, 2*time.Second)
	count := min(b.Int(fmt.Sprintf("checkers %d", i), 1, 12), int(most*every.Seconds())+1)
	site.Program(b, net.Client, fmt.Sprintf("checker-%d", i), "checks.py", form, to, every, count)
}
