package fleet

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"snag/lab"
	"snag/lab/origin"
)

//go:embed app/OriginApp.java
var appSource string

// Tools that a fleet needs.
var Tools = append([]lab.Tool{
	lab.IP, lab.TC, lab.NFT, lab.Sysctl, lab.Unshare, {Command: "haproxy", Package: "haproxy"}, {Command: "curl", Package: "curl"}, {Command: "prometheus", Package: "prometheus"},
	{Command: "java", Package: "default-jdk-headless"}, {Command: "javac", Package: "default-jdk-headless"},
}, origin.Tools...)

// services starts what the hosts serve, from the database up. The players' requests begin later (clients), when the
// recorders are there: these take all CPUs for ten seconds to start.
func (f *Fleet) services() {
	size := f.Int("bytes of an answer", 1500, 12000)
	f.actor("db", "db", "http-upstream", "--listen", database, "--wait", f.Duration("a query takes", time.Millisecond, 4*time.Millisecond).String(),
		"--slow", f.Duration("a slow query takes", 150*time.Millisecond, 600*time.Millisecond).String())
	f.awaitListening("db", "5432")
	f.actor("origin-2", "playlist-srv", "http-upstream", "--listen", addr("origin-2")+":8080", "--size", fmt.Sprint(size),
		"--wait", f.Duration("a playlist takes", time.Millisecond, 6*time.Millisecond).String())
	f.actor("origin-2", "auth-srv", "slow-acceptor", "--listen", addr("origin-2")+":9000", "--backlog", "8",
		"--work", f.Duration("a login takes", 2*time.Millisecond, 6*time.Millisecond).String())
	f.java(size)
	f.streams()
	for n := 1; n <= 6; n++ {
		f.edge(n)
	}
	f.balancer()
}

// java is origin-3's program. It gets a control group of its own only for a quota: beside a group with many threads
// that sleep again and again, the kernel keeps one that wants a CPU now and then waiting for seconds (6.18).
func (f *Fleet) java(size int) {
	f.Command("", "javac", "-J-XX:TieredStopAtLevel=1", "-proc:none", "-d", f.Dir(), f.File("OriginApp.java", appSource))
	f.run("origin-3", "java", []string{"java", "-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-Dsun.net.httpserver.nodelay=true", "-cp", f.Dir(), "OriginApp",
		addr("origin-3"), "8080", "http://" + database + "/", fmt.Sprint(f.Duration("computing of an answer", 500*time.Microsecond, 2*time.Millisecond).Microseconds()),
		fmt.Sprint(size), f.pauses()})
	f.AwaitPrinted(f.procs["java"], "ready")
}

// pauses is the file that has the Java program stop.
func (f *Fleet) pauses() string { return filepath.Join(f.Dir(), "pauses") }

// streams are the encoder's, at origin-1 and edge-1.
func (f *Fleet) streams() {
	f.procs["nginx-rtmp-edge"] = origin.ServeAs(f.Stage, f.Name("edge-1"), "nginx-rtmp-edge", "0.0.0.0:1935")
	f.awaitListening("edge-1", "1935")
	f.procs["nginx-rtmp"] = origin.ServeAs(f.Stage, f.Name("origin-1"), "nginx-rtmp", "0.0.0.0:1935", addr("edge-1")+":1935")
	f.awaitListening("origin-1", "1935")
	f.procs["ffmpeg"] = origin.Publish(f.Stage, f.Name("encoder"), addr("origin-1")+":1935")
	f.actor("players", "viewer", "edge-relay", "--to", addr("edge-1")+":1935", "--app", origin.App, "--stream", origin.Stream, "--clients", "1")
	f.AwaitOutput(f.procs["viewer"], "the stream comes", func(printed string) bool { return strings.Contains(printed, "message") })
}

// live is the stream as the players watch it.
func live() string { return origin.URL(addr("edge-1")+":1935", origin.Stream) }

const edgeConfig = `worker_processes 1;
daemon off;
user root;
pid DIR/nginx.pid;
error_log DIR/error.log;
events { worker_connections 512; }
http {
	access_log off;
	client_body_temp_path DIR/body;
	proxy_temp_path DIR/proxy;
	fastcgi_temp_path DIR/fastcgi;
	uwsgi_temp_path DIR/uwsgi;
	scgi_temp_path DIR/scgi;
	upstream origin { server ORIGIN max_fails=0; keepalive 8; }
	server {
		listen 80;
		location / {
			proxy_pass http://origin;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
		}
	}
}
`

// edge is an nginx that asks an origin; the first three also ask the other service of origin-2 for each login.
func (f *Fleet) edge(n int) {
	host, from := fmt.Sprintf("edge-%d", n), "origin-2"
	if n > 3 {
		from = "origin-3"
	}
	name := "nginx-" + host
	dir := filepath.Join(f.Dir(), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		f.Fail(name, err)
		return
	}
	conf := f.File(name+"/nginx.conf", strings.NewReplacer("DIR", dir, "ORIGIN", addr(from)+":8080").Replace(edgeConfig))
	f.run(host, name, []string{"nginx", "-p", dir, "-c", conf, "-e", filepath.Join(dir, "error.log")})
	f.awaitListening(host, "80")
	if n <= 3 {
		f.actor(host, fmt.Sprintf("auth-cli-%d", n), "caller", "--to", addr("origin-2")+":9000", "--rate", fmt.Sprint(f.Int("logins per second", 8, 20)),
			"--burst", "1", "--bursty", fmt.Sprint(f.Int("logins at once", 30, 80)), "--clients", "200", "--timeout", "20s")
	}
}

// balancer is the haproxy before the edges.
func (f *Fleet) balancer() {
	conf := &strings.Builder{}
	fmt.Fprint(conf, "global\n\tmaxconn 500\ndefaults\n\tmode http\n\ttimeout connect 10s\n\ttimeout client 60s\n\ttimeout server 60s\nfrontend web\n\tbind :80\n\tdefault_backend edges\nbackend edges\n\tbalance roundrobin\n")
	for _, h := range Hosts {
		if h.Role == Edge {
			fmt.Fprintf(conf, "\tserver %s %s:80\n", h.Name, h.Addr)
		}
	}
	f.run("lb", "haproxy", []string{"haproxy", "-db", "-f", f.File("haproxy.cfg", conf.String())})
	f.awaitListening("lb", "80")
}

// clients ask the balancer.
func (f *Fleet) clients() {
	f.actor("players", "player", "http-client", "--any", "--url", "http://"+addr("lb")+"/", "--conns", fmt.Sprint(f.Int("players", 8, 16)),
		"--every", f.Duration("a player asks every", 150*time.Millisecond, 300*time.Millisecond).String())
	f.AwaitPrinted(f.procs["player"], "answers")
}
