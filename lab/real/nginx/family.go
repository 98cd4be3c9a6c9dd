// Package nginx draws incidents of nginx as a reverse proxy.
package nginx

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
)

const subject = `nginx|:8080|shop-backend|:9\d\d\d|backend-\d`

// Family draws an nginx before its upstreams.
var Family = drawn.Family{
	Name: "nginx", Kind: drawn.Proxy, Origin: drawn.Real, Software: []string{"nginx"},
	Needs: []lab.Tool{lab.IP, {Command: "nginx", Package: "nginx"}, {Command: pyclient.Python, Package: "python3"}},
	Faults: []drawn.Fault{
		{Name: "upstream-down", Suspects: []string{"upstream-refused", "service-killed"}, Subject: subject, Also: []string{"error-answers"}, Account: "errors"},
		{Name: "upstream-slow", Suspects: []string{"slow-dependency"}, Subject: subject, Account: "sleep"},
		{Name: "upstream-workers", Suspects: []string{"worker-queue", "pool-exhausted"}, Subject: subject, Also: []string{"slow-dependency"}, Account: "in line", Whole: true},
		{Name: "upstream-path", Suspects: []string{"packet-loss"}, Subject: subject + `|10\.78\.`, Also: []string{"slow-dependency"}, Account: "loss"},
		{Name: "unix-backlog", Suspects: []string{"unix-backlog"}, Subject: subject, Also: []string{"error-answers"}, Account: "errors"},
		{Name: "limit-req", Suspects: []string{"error-answers"}, Subject: subject, Account: "errors", Whole: true},
		{Name: "worker-connections", Suspects: []string{"connection-limit"}, Subject: subject, Also: []string{"error-answers"}, Account: "errors", Whole: true},
		{Name: "slow-disk", Suspects: []string{"disk-stall"}, Subject: `nginx|:8080|loop|vd|sd|nvme|slow`, Also: []string{"busy-thread"}, Account: "disk"},
	},
	Build: build,
}

type site struct {
	*drawn.Bench
	net       drawn.Net
	upstreams []string // as nginx names them
	start     []func() *lab.Process
	running   []*lab.Process
	path      *lab.Process // to the last upstream
	load      drawn.Load
}

func build(b *drawn.Bench) {
	s := &site{Bench: b, net: b.Net(), load: b.LoadOf(800)}
	takes := b.Duration("answers take", 500*time.Microsecond, 100*time.Millisecond)
	s.load.Fresh = b.Chance("a connection for each request", 0.3)
	switch b.Fault.Name {
	case "worker-connections":
		s.load.Conns = max(s.load.Conns, 40)
		s.load.Rate = max(s.load.Rate, 60)
	case "upstream-workers": // so many that one worker is too few
		takes = max(takes, time.Duration(2/s.load.Rate*float64(time.Second)))
		s.load.Conns = max(s.load.Conns, 8)
	case "slow-disk":
		s.load.Size = 4096 * b.Int("pages of a file", 1, 16)
	}
	s.backends(takes)
	keepalive := drawn.Pick(b.Draw, "connections kept to upstreams", 0, 4, 32)
	if b.Fault.Name == "unix-backlog" {
		keepalive = 0
	}
	s.nginx(keepalive)
	path := "path=/"
	if b.Fault.Name == "slow-disk" {
		path = "path=/static/asset"
	}
	pyclient.Start(b, s.net.Client, "web-client", "http", s.net.At(8080), s.load, path, fmt.Sprintf("timeout=%.1f", b.LogUniform("clients give up after s", 1, 20)))
	s.switches()
}

// backends starts the upstreams: on the proxy's host by TCP or a UNIX socket, or on another.
func (s *site) backends(takes time.Duration) {
	n := s.Int("upstreams", 1, 3)
	where := drawn.Pick(s.Draw, "upstreams are", "on another host", "on the same host", "at a UNIX socket")
	switch s.Fault.Name {
	case "upstream-path":
		where = "on another host"
	case "unix-backlog":
		where = "at a UNIX socket"
	}
	ns, addr := s.net.Server, "127.0.0.1"
	if where == "on another host" {
		ns, addr = s.Netns("backends"), "10.78.1.2"
		s.path = s.Actor("", "rack-path", "tun-relay", []string{"--a", s.net.Server + "/eth1/10.78.1.1/24", "--b", ns + "/eth1/10.78.1.2/24", "--delay",
			s.Duration("to the upstreams", 50*time.Microsecond, 3*time.Millisecond).String(), "--clean", "--loss", fmt.Sprint(s.LogUniform("packets lost", 0.01, 0.2))})
		s.AwaitPrinted(s.path, "ready")
	}
	slow := s.Duration("slow answers take", 20*time.Millisecond, 3*time.Second)
	accept := s.Duration("slow accepts take", 50*time.Millisecond, 2*time.Second)
	workers := s.Int("workers of an upstream", 32, 256)
	if s.Built("upstream-workers") {
		// What they can do in all, as a part of what is asked: the rest queues.
		share := s.LogUniform("too few workers", 0.5, 1.5)
		workers = max(1, int(share*s.load.Rate*takes.Seconds()/float64(n)))
		s.Amount("%d upstreams with %d workers for %.0f requests per second of %v", n, workers, s.load.Rate, takes)
	}
	for i := range n {
		at := fmt.Sprintf("%s:%d", addr, 9001+i)
		name := at
		if where == "at a UNIX socket" {
			at = filepath.Join(s.Dir(), fmt.Sprintf("backend-%d.sock", i))
			name = "unix:" + at
		}
		args := []string{"--listen", at, "--size", fmt.Sprint(s.load.Size), "--wait", takes.String(), "--workers", fmt.Sprint(workers)}
		switch s.Fault.Name {
		case "upstream-slow":
			args = append(args, "--slow", slow.String())
		case "unix-backlog":
			args = append(args, "--accept", accept.String(), "--backlog", fmt.Sprint(s.Int("backlog", 1, 16)))
		}
		start := func() *lab.Process {
			os.Remove(at)
			return s.Actor(ns, "shop-backend", "http-upstream", args)
		}
		s.upstreams, s.start = append(s.upstreams, name), append(s.start, start)
		s.running = append(s.running, start())
		s.AwaitPrinted(s.running[i], "ready")
	}
	switch s.Fault.Name {
	case "upstream-slow":
		s.Amount("answers of one of %d upstreams take %v more", n, slow)
	case "unix-backlog":
		s.Amount("one of %d upstreams accepts a connection every %v", n, accept)
	}
}

func (s *site) nginx(keepalive int) {
	var up strings.Builder
	for _, u := range s.upstreams {
		fmt.Fprintf(&up, "server %s max_fails=0; ", u)
	}
	if keepalive > 0 {
		fmt.Fprintf(&up, "keepalive %d; ", keepalive)
	}
	zone, limit, connections := "", "", 1024
	if rate := s.Uniform("requests per second that are let through", 0.3, 0.95) * s.load.Rate; s.Built("limit-req") {
		limit = "limit_req zone=all;"
		if s.Chance("burst", 0.5) {
			limit = "limit_req zone=all burst=5 nodelay;"
		}
		zone = fmt.Sprintf("limit_req_zone $server_port zone=all:1m rate=%dr/m;", int(60*rate))
		s.Amount("%.0f requests per second are let through of %.0f", rate, s.load.Rate)
	}
	workers := s.Int("worker processes", 1, 4)
	if few := s.Int("too few worker_connections", 8, 30); s.Built("worker-connections") {
		connections = few
		s.Amount("worker_connections %d of %d workers for %d clients", few, workers, s.load.Conns)
	}
	conf := fmt.Sprintf(`daemon off; worker_processes %d; pid %s/nginx.pid; error_log stderr warn; user root;
events { worker_connections %d; }
http {
	access_log off; client_body_temp_path %[2]s/body; proxy_temp_path %[2]s/proxy; fastcgi_temp_path %[2]s/fcgi; uwsgi_temp_path %[2]s/uwsgi; scgi_temp_path %[2]s/scgi;
	%[7]s
	upstream app { %[4]s }
	server {
		listen %[5]s;
		location / { %[6]s proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_next_upstream off; }
		location /static/ { root %[2]s; directio 512; output_buffers 1 4k; }
	}
}
`, workers, s.Dir(), connections, up.String(), s.net.At(8080), limit, zone)
	if err := os.MkdirAll(filepath.Join(s.Dir(), "static"), 0o755); err != nil {
		s.Fail("nginx", err)
	}
	s.File("static/asset", strings.Repeat("x", s.load.Size))
	disk := s.SlowDisk("slow", 0)
	s.Run(s.net.Server, "nginx", []string{"nginx", "-e", "stderr", "-p", s.Dir(), "-c", s.File("nginx.conf", conf)}, lab.In(disk))
	s.Await("nginx to listen", 10*time.Second, s.Listens(s.net.Server, ":8080"))
	// Of what the files' disk is asked for.
	share := s.LogUniform("disk reads, of what is needed", 0.2, 1.2)
	reads := max(4096, int(share*s.load.Rate*float64(s.load.Size)))
	limitReads := func(bytes int) func() {
		return func() {
			if err := disk.LimitReads(bytes); err != nil {
				s.Fail("slow-disk", err)
			}
		}
	}
	s.Switch("slow-disk", limitReads(reads), limitReads(0))
	if s.Fault.Name == "slow-disk" {
		s.Amount("a disk that reads %d kB per second for %.0f files per second of %d bytes", reads/1000, s.load.Rate, s.load.Size)
	}
}

func (s *site) switches() {
	s.Switch("upstream-down", func() { s.Stop(s.running[0]) }, func() { s.running[0] = s.start[0]() })
	toggle := func() { s.Signal(s.running[0], syscall.SIGUSR2) }
	s.Switch("upstream-slow", toggle, toggle)
	s.Switch("unix-backlog", toggle, toggle)
	lose := func() { s.Signal(s.path, syscall.SIGUSR2) }
	s.Switch("upstream-path", lose, lose)
	switch s.Fault.Name {
	case "upstream-down":
		s.Amount("one of %d upstreams is gone", len(s.running))
	case "upstream-path":
		s.Amount("%.1f %% of the packets to the upstreams lost each way", 100*s.Values["packets lost"].(float64))
	}
}
