package scene_test

import (
	"testing"

	"snag/recording"
	"snag/scene"
)

const resolver = `A forwarder on loopback, which a web server of the same host asks; over TCP it is another service.
-- processes --
{"t":0,"pid":10,"comm":"api","netns":1,"uid":0,"state":"S","threads":1,"cpu_seconds":0}
{"t":0,"pid":20,"comm":"dnsmasq","netns":1,"uid":0,"state":"S","threads":1,"cpu_seconds":0}
-- sockets --
{"t":0,"netns":1,"inode":100,"proto":"udp","state":"UNCONN","local":"0.0.0.0:53","recv_q":0,"send_q":0,"drops":0,"owners":[{"pid":20,"fd":4}]}
{"t":0,"netns":1,"inode":101,"proto":"tcp","state":"LISTEN","local":"0.0.0.0:53","recv_q":0,"send_q":32,"drops":0,"owners":[{"pid":20,"fd":5}]}
{"t":0,"netns":1,"inode":102,"proto":"udp","state":"UNCONN","local":"0.0.0.0:40123","recv_q":0,"send_q":0,"drops":0,"owners":[{"pid":20,"fd":6}]}
-- turns --
{"t":0,"netns":1,"role":"serve","local":"0.0.0.0:53","remote":"127.0.0.1","proto":"udp","pid":20,"comm":"dnsmasq","n":10,"sum":0.1,"max":0.1,"failed":6,"failed_as":"DNS SERVFAIL"}
{"t":0,"netns":1,"role":"serve","local":"0.0.0.0:53","remote":"127.0.0.1","pid":20,"comm":"dnsmasq","n":3,"sum":0.1,"max":0.1}
-- queries --
{"t":0,"netns":1,"pid":10,"comm":"api","remote":"127.0.0.1:53","asked":10,"answered":10,"sum":0.1,"max":0.1}
`

func TestNameServersAreServices(t *testing.T) {
	s, r := build(t, resolver)
	served := scene.Services(s, r, "serve")
	if len(served) != 2 {
		t.Fatalf("%d services, want one over UDP and one over TCP", len(served))
	}
	udp, tcp := served[0], served[1]
	if udp.Subject.Name != "dnsmasq[20] on 0.0.0.0:53/udp" || tcp.Subject.Name != "dnsmasq[20] listening on 0.0.0.0:53" {
		t.Errorf("named %q and %q", udp.Subject.Name, tcp.Subject.Name)
	}
	if failed, of, as := udp.Failed(); failed != 6 || of != 10 || as != "DNS SERVFAIL" {
		t.Errorf("%g of %g failed as %q", failed, of, as)
	}
	if failed, _, _ := tcp.Failed(); failed != 0 {
		t.Errorf("%g failed over TCP", failed)
	}
	var found bool
	for _, sym := range s.Symptoms {
		found = found || sym.Name == scene.FailedAnswers && scene.IDOf(sym.Subject) == scene.IDOf(udp.Subject)
	}
	if !found {
		t.Errorf("symptoms: %+v", s.Symptoms)
	}
	k := s.Callee(recording.Turns{Netns: 1, Remote: "127.0.0.1:53", Proto: "udp"})
	if k == nil || scene.IDOf(k.Subject) != scene.IDOf(udp.Subject) {
		t.Errorf("who is asked by datagrams: %+v", k)
	}
	if _, ok := s.Related(s.Process(10).ID, k.ID); !ok {
		t.Error("who asks is not tied to the name server")
	}
	if !k.TakesRequests() || s.SocketByInode(1, 102).TakesRequests() {
		t.Error("requests come by the socket at port 53, and not by that at which it asks others")
	}
}
