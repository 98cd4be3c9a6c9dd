// Package site has what healthy families share: a web server or a Redis with clients whose
// own log shows that they are well, and the programs beside them that fool tools.
package site

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
)

// Tools that families need.
var (
	Nginx  = lab.Tool{Command: "nginx", Package: "nginx"}
	Redis  = lab.Tool{Command: "redis-server", Package: "redis-server"}
	Python = lab.Tool{Command: pyclient.Python, Package: "python3"}
)

// WebNeeds is what Web and Browse need, and that.
func WebNeeds(more ...lab.Tool) []lab.Tool { return append([]lab.Tool{lab.IP, Nginx, Python}, more...) }

// Site is a server with the path to its clients.
type Site struct {
	drawn.Net
	Server *lab.Process
	Page   int // bytes of /page
}

// Web is nginx with /page, and /large of some MB. More is put into its http block, where
// ADDR is the server's address and DIR the stage's folder.
func Web(b *drawn.Bench, more ...string) Site { return WebOn(b, b.Net(), more...) }

// WebOn is Web on that path.
func WebOn(b *drawn.Bench, net drawn.Net, more ...string) Site {
	s := Site{Net: net, Page: b.Int("bytes of the page", 200, 200_000)}
	Folder(b, "www")
	b.File("www/page", strings.Repeat("x", s.Page))
	b.File("www/large", strings.Repeat("large file\n", b.Int("lines of the large file", 100_000, 1_000_000)))
	s.Server = NginxOf(b, s.Net, append(more, "server { listen ADDR:80; root DIR/www; }")...)
	return s
}

// Near is a path without a delay of its own, for what would fill one in user space.
func Near(b *drawn.Bench) drawn.Net {
	n := drawn.Net{Server: b.Netns("server"), Client: b.Netns("clients"), Addr: "10.76.1.1", ClientAddr: "10.76.1.2"}
	b.Veth(lab.End{Netns: n.Server, Device: "eth0", Addr: n.Addr + "/24"}, lab.End{Netns: n.Client, Device: "eth0", Addr: n.ClientAddr + "/24"})
	return n
}

// NginxOf starts nginx with these pieces in its http block.
func NginxOf(b *drawn.Bench, net drawn.Net, blocks ...string) *lab.Process {
	all := strings.Join(blocks, "\n")
	if !strings.Contains(all, "keepalive_timeout") {
		all = "keepalive_timeout 300s;\n" + all
	}
	text := strings.NewReplacer("BLOCKS", all, "WORKERS", fmt.Sprint(b.Int("nginx workers", 1, 4))).Replace(config)
	text = strings.NewReplacer("DIR", b.Dir(), "ADDR", net.Addr).Replace(text)
	path := b.File("nginx.conf", text)
	p := b.Run(net.Server, "nginx", []string{"nginx", "-p", b.Dir(), "-c", path})
	b.Await("nginx to listen", 10*time.Second, b.Listens(net.Server, ":80"))
	return p
}

// config keeps every file in the stage's folder, so that the machine's own nginx, if there
// is one, is not touched.
const config = `daemon off;
worker_processes WORKERS;
worker_rlimit_nofile 40000;
user root;
pid DIR/nginx.pid;
error_log DIR/error.log error;
events { worker_connections 16384; }
http {
    access_log DIR/access.log;
    keepalive_requests 1000000;
    client_body_temp_path DIR/body;
    proxy_temp_path DIR/proxy;
    fastcgi_temp_path DIR/fastcgi;
    uwsgi_temp_path DIR/uwsgi;
    scgi_temp_path DIR/scgi;
    BLOCKS
}
`

// Browse starts the clients of /page, which keep a log.
func (s Site) Browse(b *drawn.Bench) { Pages(b, s.Net, s.At(80), "/page", s.Page) }

// Pages starts clients that ask for a page of so many bytes, and keep a log.
func Pages(b *drawn.Bench, net drawn.Net, to, path string, bytes int) {
	l := LoadOf(b, net, bytes)
	l.Fresh = b.Chance("a connection for each request", 0.3)
	pyclient.Start(b, net.Client, "browser", "pages", to, l, "path="+path)
}

// LoadOf draws a light load of answers of that size: it leaves the machine to what is
// beside it, and asks no more than Python and a path in user space can carry.
func LoadOf(b *drawn.Bench, net drawn.Net, bytes int) drawn.Load {
	l := drawn.Load{
		Rate:  min(b.LogUniform("requests per second", 15, 120), max(10, 2e6/float64(bytes))),
		Open:  b.Chance("open loop", 0.5),
		Conns: b.Int("clients", 1, 48),
	}
	// Each connection has time for some round trips before the next request is due.
	l.Conns = max(l.Conns, int(l.Rate*(0.05+12*net.RTT.Seconds()))+1)
	return l
}

// RedisAt starts a Redis with one key, and clients of it that keep a log.
func RedisAt(b *drawn.Bench, net drawn.Net) Site {
	s := Site{Net: net}
	s.Server = b.Run(s.Net.Server, "redis", []string{
		"redis-server", "--port", "6379", "--bind", s.Addr, "--protected-mode", "no", "--save", "", "--dir", b.Dir(), "--maxclients", "20000",
	})
	b.Await("redis to listen", 10*time.Second, b.Listens(s.Net.Server, ":6379"))
	b.Command(s.Net.Server, "redis-cli", "-h", s.Addr, "SET", "key", strings.Repeat("v", b.Int("bytes of the value", 10, 20_000)))
	l := LoadOf(b, s.Net, 1000)
	pyclient.Start(b, s.Client, "web-app", "redis", s.At(6379), l, "command="+drawn.Pick(b.Draw, "command", "GET key", "INCR counter", "LPUSH list x"))
	return s
}

// Folder makes a folder on the stage and returns its path.
func Folder(b *drawn.Bench, name string) string {
	path := filepath.Join(b.Dir(), name)
	if b.Err() == nil {
		if err := os.MkdirAll(path, 0o755); err != nil {
			b.Fail(name, err)
		}
	}
	return path
}
