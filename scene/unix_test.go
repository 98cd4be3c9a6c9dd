package scene_test

import (
	"testing"

	"snag/recording"
	"snag/scene"
)

const behindNginx = `A web server, in its own namespace, asks PHP at a path that both see, and a cache by an abstract name that only one namespace has.
-- processes --
{"t":0,"pid":10,"comm":"nginx","netns":2,"uid":0,"state":"S","threads":1,"cpu_seconds":0}
{"t":0,"pid":20,"comm":"php-fpm","netns":1,"uid":0,"state":"S","threads":1,"cpu_seconds":0}
-- sockets --
{"t":0,"netns":1,"inode":100,"proto":"unix","state":"LISTEN","local":"unix:/run/php.sock","recv_q":0,"send_q":511,"drops":0,"owners":[{"pid":20,"fd":3}]}
{"t":0,"netns":1,"inode":101,"proto":"unix","state":"ESTABLISHED","local":"unix:/run/php.sock","remote":"unix:#102","recv_q":0,"send_q":0,"drops":0,"owners":[{"pid":20,"fd":4}]}
{"t":0,"netns":1,"inode":102,"proto":"unix","state":"ESTABLISHED","local":"unix:#102","remote":"unix:/run/php.sock","recv_q":0,"send_q":0,"drops":0}
{"t":0,"netns":1,"inode":103,"proto":"unix","state":"LISTEN","local":"unix:@cache","recv_q":0,"send_q":511,"drops":0,"owners":[{"pid":20,"fd":5}]}
-- turns --
{"t":0,"netns":2,"role":"call","local":"unix:","remote":"unix:/run/php.sock","pid":10,"comm":"nginx","n":1,"sum":0.1,"max":0.1}
{"t":0,"netns":2,"role":"call","local":"unix:","remote":"unix:@cache","pid":10,"comm":"nginx","n":1,"sum":0.1,"max":0.1}
{"t":0,"netns":1,"role":"serve","local":"unix:/run/php.sock","remote":"unix:","pid":20,"comm":"php-fpm","n":1,"sum":0.1,"max":0.1}
`

func TestUnixListenersAndWhoAsksThere(t *testing.T) {
	s, r := build(t, behindNginx)
	l := s.ListenerOn(1, "unix:/run/php.sock")
	if l == nil || l.Owner() == nil || l.Subject.Name != "php-fpm[20] listening on unix:/run/php.sock (netns 1)" && l.Subject.Name != "php-fpm[20] listening on unix:/run/php.sock" {
		t.Fatalf("the listener: %+v", l)
	}
	if s.ListenerOn(2, "unix:/run/php.sock") != nil || s.ListenerOn(1, "unix:/run/other.sock") != nil {
		t.Error("a listener elsewhere, or at another path")
	}
	accepted, caller := s.SocketByInode(1, 101), s.SocketByInode(1, 102)
	if accepted.Listener != l || accepted.Peer != caller || caller.Listener != nil {
		t.Errorf("accepted %+v, caller %+v", accepted, caller)
	}
	if got := s.Callee(r.Turns[0]); got != l {
		t.Errorf("a path is asked from another namespace: %+v", got)
	}
	if got := s.Callee(r.Turns[1]); got != nil {
		t.Errorf("an abstract name of another namespace: %+v", got)
	}
	if _, ok := s.Related(s.Process(10).ID, l.ID); !ok {
		t.Error("who asks is not tied to the listener")
	}
	served := scene.Services(s, r, "serve")
	if len(served) != 1 || scene.IDOf(served[0].Subject) != l.ID {
		t.Errorf("served: %+v", served)
	}
}

func TestAddressesOfUnixSockets(t *testing.T) {
	for addr, port := range map[string]string{"unix:/run/php.sock": "/run/php.sock", "unix:@a:b": "@a:b", "unix:": "", "10.0.0.1:80": "80", "[::1]:80": "80"} {
		if got := recording.Port(addr); got != port {
			t.Errorf("port of %s: %q", addr, got)
		}
	}
	if got := recording.Host("unix:/run/a:80"); got != "unix:/run/a:80" {
		t.Errorf("host: %q", got)
	}
}
