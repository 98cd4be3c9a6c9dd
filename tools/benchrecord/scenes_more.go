package main

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/threadserver"
)

// Four more, each of a kind at which one of the peers is strong: Wireshark at Nagle, tracers
// of dropped packets at a full socket, perf at a lock that spins, Coroot at a slow upstream.

var delayed = incident{
	name: "Nagle", title: "a release of a client that writes each request in two parts no longer sets TCP_NODELAY",
	well: func(s *lab.Stage, clients, self string) func() {
		server := s.Actor("", "order-server", "two-write-server", []string{"--listen", inside + ":9006"})
		s.AwaitPrinted(server, "ready")
		call := func(args ...string) *lab.Process {
			p := s.Actor(clients, "order-client", "two-write-client", append([]string{"--to", inside + ":9006", "--every", "40ms"}, args...))
			s.AwaitPrinted(p, "ready")
			return p
		}
		client := call("--nodelay")
		return func() {
			s.Stop(client)
			call()
		}
	},
}

var full = incident{
	name: "UDP buffer", title: "a release of an RTP receiver has a socket buffer that is smaller than a burst",
	well: func(s *lab.Stage, clients, self string) func() {
		listen := func(buffer string) *lab.Process {
			p := s.Actor("", "rtp-sink", "udp-sink", []string{"--listen", inside + ":5004", "--rcvbuf", buffer, "--work", "400us"})
			s.AwaitPrinted(p, "ready")
			return p
		}
		sink := listen("212992")
		s.Actor(clients, "rtp-source", "udp-source", []string{"--to", inside + ":5004", "--size", "1200", "--burst", "40", "--rate", "600"})
		return func() {
			s.Stop(sink)
			listen("32768")
		}
	},
}

// spinners are the workers that the server is given more: far more than there are CPUs.
const spinners = "22"

var spun = incident{
	name: "spin lock", title: "a server of two workers, which compute under a lock that spins, is given " + spinners + " more",
	needs: []lab.Tool{threadserver.Compiler},
	well: func(s *lab.Stage, clients, self string) func() {
		// So nice that the recorders, which are not, are on time beside so many that never sleep.
		server := threadserver.Start(s, "", 8085, 2, "spin", spinners, lab.Nice(10))
		s.Actor(clients, "quote-client", "rr-client", []string{"--to", inside + ":8085", "--conns", "40", "--every", "60ms"})
		return func() { s.Signal(server, syscall.SIGUSR1) }
	},
}

// proxy is the configuration of nginx: where its files are, and the upstream.
const proxy = `worker_processes 1;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
events { worker_connections 256; }
http {
	access_log off;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	server {
		listen %[2]s;
		location / { proxy_pass http://%[3]s; }
	}
}
`

var upstream = incident{
	name: "upstream", title: "nginx passes requests on to another host, whose answers become slow (400 ms)",
	needs: []lab.Tool{{Command: "nginx", Package: "nginx"}},
	well: func(s *lab.Stage, clients, self string) func() {
		backend := s.Actor(clients, "catalog-api", "http-backend", []string{"--listen", outside + ":8000", "--wait", "2ms", "--slow", "400ms"})
		s.AwaitPrinted(backend, "ready")
		conf := s.File("nginx.conf", fmt.Sprintf(proxy, s.Dir(), inside+":8086", outside+":8000"))
		s.Run("", "nginx", []string{"nginx", "-c", conf, "-p", s.Dir(), "-g", "daemon off; user root;"})
		s.Await("nginx to listen", 10*time.Second, s.Listens("", ":8086"))
		s.Actor(clients, "web-client", "http-client", []string{"--url", "http://" + inside + ":8086/", "--conns", "8", "--every", "100ms"})
		return func() { s.Signal(backend, syscall.SIGUSR2) }
	},
}
