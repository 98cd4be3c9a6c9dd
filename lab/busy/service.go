// Package busy makes a machine that is busy and healthy: an ordinary service under
// light load, and beside it the work that machines do at night. Nobody is to blame
// for anything in it.
package busy

import (
	"strings"
	"time"

	"snag/lab"
)

// serve makes the service: nginx that is asked for a page 40 times per second, and a
// video call's stream (300 datagrams of 1,200 bytes per second, 2.9 Mbit/s: 720p).
func serve(s *lab.Stage) {
	users, site := s.Netns("users"), s.Netns("site")
	s.Veth(lab.End{Netns: users, Device: "eth0", Addr: "10.85.1.1/24"}, lab.End{Netns: site, Device: "eth0", Addr: "10.85.1.2/24"})
	s.File("index.html", strings.Repeat("an ordinary page\n", 500))
	conf := s.File("nginx.conf", nginx(s.Dir(), "10.85.1.2:80"))
	s.Run(site, "nginx", []string{"nginx", "-p", s.Dir(), "-c", conf})
	s.Await("nginx to listen", 10*time.Second, s.Listens(site, ":80"))
	phone := s.Actor(site, "video-phone", "udp-sink", []string{"--listen", "10.85.1.2:5004"})
	s.AwaitPrinted(phone, "ready")
	s.Actor(users, "video-caller", "udp-source", []string{"--to", "10.85.1.2:5004", "--rate", "300", "--size", "1200"})
	browser := s.Actor(users, "browser", "http-client", []string{"--url", "http://10.85.1.2/index.html", "--conns", "4", "--every", "100ms"})
	s.AwaitPrinted(browser, "answers")
	s.AwaitGrowth(site, "Udp", "InDatagrams", 300)
}

// nginx is a configuration of our own with every file in dir, so that the
// machine's nginx, if there is one, is not touched.
func nginx(dir, listen string) string {
	return strings.NewReplacer("DIR", dir, "LISTEN", listen).Replace(`daemon off;
master_process on;
worker_processes 1;
user root;
pid DIR/nginx.pid;
error_log DIR/error.log error;
events { worker_connections 1024; }
http {
    access_log off;
    client_body_temp_path DIR/body;
    proxy_temp_path DIR/proxy;
    fastcgi_temp_path DIR/fastcgi;
    uwsgi_temp_path DIR/uwsgi;
    scgi_temp_path DIR/scgi;
    server {
        listen LISTEN;
        root DIR;
    }
}
`)
}
