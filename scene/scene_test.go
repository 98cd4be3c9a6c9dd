package scene_test

import (
	"testing"

	"snag/recording"
	"snag/recording/rectest"
	"snag/scene"
)

const relay = `A relay in one namespace feeds two players in others; a stranger runs beside it.
-- netns --
{"t":0,"id":1,"own":true}
{"t":0,"id":2,"name":"lab","addrs":["eth0 10.0.0.1/24"]}
{"t":0,"id":3,"name":"far","addrs":["eth0 10.0.0.2/24"]}
-- links --
{"t":0,"netns":2,"index":2,"name":"eth0","mtu":1500,"up":true}
-- qdiscs --
{"t":0,"netns":2,"device":"eth0","kind":"tbf","handle":"1:","parent":"root"}
-- processes --
{"t":0,"pid":10,"comm":"relay","netns":2,"uid":0,"state":"S","threads":1,"cpu_seconds":0,"cgroup":"/a/b"}
{"t":0,"pid":20,"comm":"player","netns":3,"uid":0,"state":"S","threads":1,"cpu_seconds":0}
{"t":0,"pid":30,"comm":"other","netns":1,"uid":0,"state":"S","threads":1,"cpu_seconds":0}
-- cgroups --
{"t":0,"path":"/a","version":1,"quota_seconds":0.05,"period_seconds":0.1}
-- sockets --
{"t":0,"netns":2,"inode":100,"proto":"tcp","state":"LISTEN","local":"*:1935","remote":"0.0.0.0:0","recv_q":0,"send_q":5,"drops":0,"owners":[{"pid":10,"fd":3}]}
{"t":0,"netns":2,"inode":101,"proto":"tcp","state":"ESTABLISHED","local":"10.0.0.1:1935","remote":"10.0.0.2:4000","recv_q":0,"send_q":0,"drops":0,"owners":[{"pid":10,"fd":4}]}
{"t":0,"netns":3,"inode":102,"proto":"tcp","state":"ESTABLISHED","local":"[::ffff:10.0.0.2]:4000","remote":"[::ffff:10.0.0.1]:1935","recv_q":0,"send_q":0,"drops":0,"owners":[{"pid":20,"fd":4}]}
{"t":0,"netns":1,"inode":103,"proto":"udp","state":"UNCONN","local":"0.0.0.0:5000","recv_q":0,"send_q":0,"drops":0,"owners":[{"pid":30,"fd":4}]}
`

func build(t *testing.T, text string) (*scene.Scene, *recording.Recording) {
	t.Helper()
	c, err := rectest.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return scene.Build(c.Recording), c.Recording
}

func TestSceneJoinsAFlowAcrossNamespaces(t *testing.T) {
	s, _ := build(t, relay)
	k := s.SocketAt(2, "tcp", "10.0.0.1:1935", "10.0.0.2:4000")
	if k == nil || k.Peer == nil || k.Peer.Owner().Subject.PID != 20 {
		t.Fatalf("the relay's socket has no peer: %+v", k)
	}
	if k.Listener == nil || !k.Listener.Listening() {
		t.Error("the socket was not joined with its listener")
	}
	for _, c := range []struct {
		a, b recording.Subject
		want bool
	}{
		{process(10), process(20), true},
		{process(10), process(30), false},
		{process(10), recording.Subject{Kind: recording.KindCgroup, Cgroup: "/a"}, true},
		{process(30), recording.Subject{Kind: recording.KindCgroup, Cgroup: "/a"}, false},
		{process(10), recording.Subject{Kind: recording.KindQdisc, Netns: 2, Device: "eth0", Handle: "1:"}, true},
		{process(30), recording.Subject{Kind: recording.KindQdisc, Netns: 2, Device: "eth0", Handle: "1:"}, false},
		{process(30), recording.Subject{Kind: recording.KindHost}, true},
		{recording.Subject{Kind: recording.KindPort, Netns: 1, Proto: "udp", Local: "127.0.0.1:5000"}, process(30), false},
		{recording.Subject{Kind: recording.KindPort, Netns: 1, Proto: "udp", Local: "127.0.0.1:5000"}, s.UDPOn(1, "127.0.0.1:5000").Subject, true},
		{recording.Subject{Kind: recording.KindPort, Netns: 2, Proto: "udp", Local: "127.0.0.1:5000"}, s.UDPOn(1, "127.0.0.1:5000").Subject, false},
	} {
		if got := s.Touch(c.a, c.b); got != c.want {
			t.Errorf("Touch(%s, %s) = %v, want %v", s.Name(c.a), s.Name(c.b), got, c.want)
		}
	}
}

func process(pid int) recording.Subject {
	return recording.Subject{Kind: recording.KindProcess, PID: pid}
}

func TestNamesAreWhatAPersonWouldSay(t *testing.T) {
	s, _ := build(t, relay)
	for want, sub := range map[string]recording.Subject{
		"relay[10] listening on *:1935 (netns lab)":               s.ListenerOn(2, "10.0.0.1:1935").Subject,
		"relay[10] tcp 10.0.0.1:1935 → 10.0.0.2:4000 (netns lab)": s.SocketAt(2, "tcp", "10.0.0.1:1935", "10.0.0.2:4000").Subject,
		"other[30] udp 0.0.0.0:5000":                              s.UDPOn(1, "0.0.0.0:5000").Subject,
		"qdisc tbf 1: on eth0 (netns lab)":                        {Kind: recording.KindQdisc, Netns: 2, Device: "eth0", Handle: "1:", Path: "tbf"},
		"udp port 10.0.0.1:99 (netns lab)":                        {Kind: recording.KindPort, Netns: 2, Proto: "udp", Local: "10.0.0.1:99"},
		"snag itself":                                             {Kind: recording.KindObserver},
	} {
		if got := s.Name(sub); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTheSameAddressesInTwoNamespacesAreNotJoined(t *testing.T) {
	s, _ := build(t, `Two containers use the same addresses: no edge is better than a wrong one.
-- sockets --
{"t":0,"netns":2,"inode":1,"proto":"tcp","state":"ESTABLISHED","local":"10.0.0.1:80","remote":"10.0.0.2:4000","recv_q":0,"send_q":0,"drops":0}
{"t":0,"netns":3,"inode":2,"proto":"tcp","state":"ESTABLISHED","local":"10.0.0.2:4000","remote":"10.0.0.1:80","recv_q":0,"send_q":0,"drops":0}
{"t":0,"netns":4,"inode":3,"proto":"tcp","state":"ESTABLISHED","local":"10.0.0.2:4000","remote":"10.0.0.1:80","recv_q":0,"send_q":0,"drops":0}
`)
	if k := s.SocketByInode(2, 1); k.Peer != nil {
		t.Errorf("joined with %s", k.Peer.Subject.Name)
	}
}

func TestSymptoms(t *testing.T) {
	for name, c := range map[string]struct {
		rows string
		want string // name of the symptom; "" for none
	}{
		"socket drops":                {`{"t":"0..10","netns":1,"inode":1,"proto":"udp","state":"UNCONN","local":"0.0.0.0:5000","recv_q":0,"send_q":0,"drops":"0+50x"}`, scene.DatagramsLost},
		"drops before the window":     {`{"t":"0..10","netns":1,"inode":1,"proto":"udp","state":"UNCONN","local":"0.0.0.0:5000","recv_q":0,"send_q":0,"drops":5000}`, ""},
		"nobody reads":                {`{"t":"0..10","netns":1,"inode":1,"proto":"tcp","state":"ESTABLISHED","local":"1.1.1.1:1","remote":"1.1.1.2:2","recv_q":90000,"send_q":0,"drops":0,"tcp":{"bytes_received":90000}}`, scene.StreamFreeze},
		"a busy reader":               {`{"t":"0..3","netns":1,"inode":1,"proto":"tcp","state":"ESTABLISHED","local":"1.1.1.1:1","remote":"1.1.1.2:2","recv_q":9000,"send_q":0,"drops":0,"tcp":{"bytes_received":"90000+90000x"}}`, ""},
		"an encoder that pushes":      {`{"t":"0..10","netns":1,"inode":1,"proto":"tcp","state":"ESTABLISHED","local":"1.1.1.1:1","remote":"1.1.1.2:2","recv_q":19,"send_q":0,"drops":0,"tcp":{"bytes_received":63,"bytes_sent":"9000+9000x","bytes_acked":"9000+9000x"}}`, ""},
		"peer takes nothing":          {`{"t":"0..10","netns":1,"inode":1,"proto":"tcp","state":"ESTABLISHED","local":"1.1.1.1:1","remote":"1.1.1.2:2","recv_q":0,"send_q":90000,"drops":0,"tcp":{"bytes_acked":90000}}`, scene.StreamFreeze},
		"an idle connection":          {`{"t":"0..10","netns":1,"inode":1,"proto":"tcp","state":"ESTABLISHED","local":"1.1.1.1:1","remote":"1.1.1.2:2","recv_q":0,"send_q":0,"drops":0,"tcp":{"bytes_acked":90000}}`, ""},
		"connections wait for accept": {`{"t":"0..10","netns":1,"inode":1,"proto":"tcp","state":"LISTEN","local":"1.1.1.1:1","recv_q":4,"send_q":128,"drops":0}`, scene.ConnectLatency},
		"a quiet listener":            {`{"t":"0..10","netns":1,"inode":1,"proto":"tcp","state":"LISTEN","local":"1.1.1.1:1","recv_q":0,"send_q":128,"drops":0}`, ""},
	} {
		s, _ := build(t, name+"\n-- sockets --\n"+c.rows+"\n")
		got := ""
		for _, sym := range s.Symptoms {
			got += sym.Name
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
