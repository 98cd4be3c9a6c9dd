package sockets

import (
	"fmt"
	"net"
	"testing"
	"time"

	"snag/probes/sockets/diag"
	"snag/recording"
)

func found(state, local, remote string) *diag.Found {
	return &diag.Found{Socket: recording.Socket{Proto: "tcp", State: state, Local: local, Remote: remote}}
}

func TestPortsAreCountedByDestination(t *testing.T) {
	var c crowd
	c.begin(7, 3)
	if c.take(found("LISTEN", "0.0.0.0:80", "")) {
		t.Error("a listener got no row")
	}
	for i := range 60 {
		if c.take(found("ESTABLISHED", fmt.Sprintf("10.0.0.1:%d", 40000+i), "10.0.0.9:3306")) {
			t.Error("a connection got no row")
		}
		c.timeWait(*found("TIME_WAIT", fmt.Sprintf("10.0.0.1:%d", 41000+i), "10.0.0.9:3306"))
		// One port to each of many destinations, and one of the listener's for each peer.
		c.timeWait(*found("TIME_WAIT", fmt.Sprintf("10.0.0.1:%d", 42000+i), fmt.Sprintf("10.0.1.%d:3306", i)))
		c.timeWait(*found("TIME_WAIT", "10.0.0.1:80", "10.0.0.9:5000"))
	}
	c.end(0)
	want := recording.Ports{T: 7, Netns: 3, Local: "10.0.0.1", Remote: "10.0.0.9:3306", InUse: 120, TimeWait: 60, Low: 40000, High: 41059}
	if len(c.ports) != 1 || c.ports[0] != want {
		t.Errorf("ports %+v\nwant %+v", c.ports, want)
	}
}

// Of a range of seven ports six are most of them.
func TestPortsOfANarrowRange(t *testing.T) {
	for _, c := range []struct{ inUse, of, rows int }{{6, 7, 1}, {5, 7, 0}, {6, 0, 0}, {6, 28232, 0}} {
		var all crowd
		all.begin(7, 3)
		for i := range c.inUse {
			all.timeWait(*found("TIME_WAIT", fmt.Sprintf("10.0.0.1:%d", 10000+i), "10.0.0.9:3306"))
		}
		if all.end(c.of); len(all.ports) != c.rows {
			t.Errorf("%d of %d ports: %+v", c.inUse, c.of, all.ports)
		}
	}
}

func TestHalfOpenIsCountedByListener(t *testing.T) {
	var c crowd
	c.begin(7, 3)
	for i := range 20 {
		f := found("SYN_RECV", "10.0.0.1:80", fmt.Sprintf("192.0.2.%d:1024", i%5))
		f.Resent = i % 2
		if !c.take(f) {
			t.Error("a half-open connection got its own row")
		}
	}
	child := found("SYN_RECV", "10.0.0.1:80", "192.0.2.9:1024")
	if child.Inode = 5; c.take(child) {
		t.Error("a socket that somebody holds got no row")
	}
	c.end(0)
	want := recording.HalfOpen{T: 7, Netns: 3, Local: "10.0.0.1:80", N: 20, Sources: 5, Resent: 10, Remote: "192.0.2.0:1024"}
	if len(c.half) != 1 || c.half[0] != want {
		t.Errorf("half open %+v\nwant %+v", c.half, want)
	}
}

func TestTimeWaitOfSockstat(t *testing.T) {
	for text, want := range map[string]int{
		"sockets: used 14\nTCP: inuse 3 orphan 0 tw 28231 alloc 4 mem 1\nUDP: inuse 0 mem 0\n": 28231,
		"TCP: inuse 3 tw\n": 0,
		"":                  0,
		"TCP: tw many":      0,
	} {
		if got := timeWaiting(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func FuzzTimeWaiting(f *testing.F) {
	f.Add("TCP: inuse 3 orphan 0 tw 28231 alloc 4 mem 1")
	f.Add("TCP: tw")
	f.Fuzz(func(_ *testing.T, text string) { timeWaiting(text) })
}

// Sixty connections that their client closed are in TIME-WAIT, with a port each.
func TestPortsInTimeWaitAreSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7070")
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func(c net.Conn) { // closes second
				c.Read(make([]byte, 1))
				c.Close()
			}(c)
		}
	}()
	for range 60 {
		b.dial("127.0.0.1:7070").Close()
	}
	time.Sleep(300 * time.Millisecond)
	r := b.start()
	time.Sleep(1500 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.ports")
	for _, p := range rec.Ports {
		if p.Netns == b.id && p.Remote == "127.0.0.1:7070" && p.Local == "127.0.0.1" && p.TimeWait >= 50 && p.InUse >= p.TimeWait && p.Low > 1024 {
			return
		}
	}
	t.Errorf("no row of 60 ports in TIME-WAIT: %+v", rec.Ports)
}
