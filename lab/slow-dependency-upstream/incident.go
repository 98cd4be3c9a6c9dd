// Package slowupstream makes an nginx that passes each request on to a gunicorn which has
// become slow: a program of one thread, none of which ever waits in a read.
package slowupstream

import (
	"fmt"
	"time"

	"snag/lab"
)

// Incident is slow-dependency in an event loop.
var Incident = lab.Incident{
	Name:  "slow-dependency-upstream",
	Title: "nginx passes each request on to gunicorn, which takes 400 ms",
	Long:  true,
	Apart: true,
	Needs: []lab.Tool{lab.IP, {Command: "nginx", Package: "nginx"}, {Command: "gunicorn", Package: "gunicorn"}},
	Want: lab.Want{
		Suspect: "slow-dependency",
		Subject: `nginx.*:8000|:8000`,
	},
	Distractor: "gunicorn is quick, and nginx itself holds each request back (limit_req), as it was told to",
	Start:      start,
}

const app = `import time

def app(environ, start_response):
    time.sleep(%g)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "3")])
    return [b"ok\n"]
`

const config = `worker_processes 1;
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
	limit_req_zone $server_name zone=all:1m rate=%[2]s;
	server {
		listen 8080;
		location / {
			%[3]s
			proxy_pass http://10.78.10.2:8000;
		}
	}
}
`

func start(s *lab.Stage, v lab.Variant) error {
	web, app1 := s.Netns("web"), s.Netns("app")
	s.Veth(lab.End{Netns: web, Device: "eth0", Addr: "10.78.10.1/24"}, lab.End{Netns: app1, Device: "eth0", Addr: "10.78.10.2/24"})
	slow := lab.At(s, 150*time.Millisecond, 400*time.Millisecond, 1500*time.Millisecond)
	nap, rate, limit := 2*time.Millisecond, "100r/s", ""
	switch v {
	case lab.Sick:
		nap = slow
	case lab.Distractor: // eight clients share the rate, so that each waits for 8 of its turns
		rate, limit = fmt.Sprintf("%dr/m", int(8*time.Minute/slow)), "limit_req zone=all burst=100;"
	}
	s.File("app.py", fmt.Sprintf(app, nap.Seconds()))
	upstream := s.Run(app1, "gunicorn", []string{"gunicorn", "--worker-class", "gthread", "--threads", "24", "--bind", "10.78.10.2:8000", "--chdir", s.Dir(), "app:app"})
	s.AwaitPrinted(upstream, "Booting worker")
	conf := s.File("nginx.conf", fmt.Sprintf(config, s.Dir(), rate, limit))
	s.Run(web, "nginx", []string{"nginx", "-c", conf, "-p", s.Dir(), "-g", "daemon off; user root;"})
	s.Await("nginx to listen", 10*time.Second, s.Listens(web, ":8080"))
	client := s.Actor(web, "client", "http-client", []string{"--url", "http://127.0.0.1:8080/", "--conns", "8", "--every", "100ms"})
	s.AwaitPrinted(client, "answers")
	s.Pause(time.Second)
	return s.Err()
}
