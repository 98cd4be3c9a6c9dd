package sockets

import (
	"net"
	"os"
	"testing"
	"time"

	"snag/recording"
)

func TestConnectionsAreCountedExactly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("127.0.0.1:7001")
	r := b.start()
	const n = 57
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 100)
			k, _ := c.Read(buf)
			c.Write(buf[:k])
			c.Close()
		}
	}()
	time.Sleep(1200 * time.Millisecond) // the listener is known by its dump
	for range n {
		c := b.dial("127.0.0.1:7001")
		c.Write([]byte("0123456789"))
		buf := make([]byte, 100)
		c.Read(buf)
		c.Read(buf)
		c.Close()
	}
	failed := 0
	b.do(func() error {
		for range 5 {
			if _, err := net.Dial("tcp4", "127.0.0.1:7002"); err != nil {
				failed++
			}
		}
		return nil
	})
	time.Sleep(200 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.connections")
	var accept, connect, refused recording.Connections
	for _, c := range rec.Connections {
		if c.Netns != b.id {
			continue
		}
		if c.PID != os.Getpid() {
			t.Errorf("pid of %+v, want %d", c, os.Getpid())
		}
		switch {
		case c.Role == "accept" && c.Local == "127.0.0.1:7001" && c.Remote == "127.0.0.1":
			sum(&accept, c)
		case c.Role == "connect" && c.Local == "127.0.0.1" && c.Remote == "127.0.0.1:7001":
			sum(&connect, c)
		case c.Role == "connect" && c.Remote == "127.0.0.1:7002":
			sum(&refused, c)
		default:
			t.Errorf("unexpected row %+v", c)
		}
	}
	for _, c := range []recording.Connections{accept, connect} {
		if c.Opened != n || c.Closed != n || c.Failed != 0 || c.Short != n || c.Unasked != 0 {
			t.Errorf("%d connections: %+v", n, c)
		}
		if c.BytesOut != 10*n || c.BytesIn < 10*n || c.BytesIn > 11*n {
			t.Errorf("10 bytes each way %d times: %+v", n, c)
		}
		if c.Lifetime <= 0 || c.Lifetime > 30 {
			t.Errorf("lifetime of %+v", c)
		}
	}
	if connect.Handshake <= 0 || connect.HandshakeMax > connect.Handshake {
		t.Errorf("handshake of %+v", connect)
	}
	if refused.Failed != 5 || failed != 5 || refused.Opened != 0 {
		t.Errorf("refused: %+v, %d failed", refused, failed)
	}
}

func sum(to *recording.Connections, c recording.Connections) {
	to.Opened += c.Opened
	to.Closed += c.Closed
	to.Failed += c.Failed
	to.Short += c.Short
	to.Unasked += c.Unasked
	to.BytesIn += c.BytesIn
	to.BytesOut += c.BytesOut
	to.Lifetime += c.Lifetime
	to.Handshake += c.Handshake
	to.HandshakeMax = max(to.HandshakeMax, c.HandshakeMax)
}

// Who is turned away has said nothing yet. A client that leaves at once is none, nor is one that
// was answered first.
func TestTurnedAwayBeforeAnythingWasAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const n = 6
	say := func(c net.Conn, text string) { _, _ = c.Write([]byte(text)) }
	hear := func(c net.Conn) { _, _ = c.Read(make([]byte, 64)) }
	kinds := []struct {
		addr           string
		server, client func(c net.Conn)
		want           uint64
	}{
		{"127.0.0.1:7021", func(c net.Conn) { say(c, "421 Too many\r\n") }, func(c net.Conn) { hear(c); hear(c) }, n},
		{"127.0.0.1:7022", func(net.Conn) {}, hear, n},
		{"127.0.0.1:7023", hear, func(net.Conn) {}, 0},
		{"127.0.0.1:7024", func(c net.Conn) { say(c, "220 ready\r\n"); hear(c) }, hear, 0},
		{"127.0.0.1:7025", func(c net.Conn) { say(c, "220 ready\r\n"); hear(c); say(c, "221 bye\r\n") }, func(c net.Conn) { hear(c); say(c, "QUIT\r\n"); hear(c); hear(c) }, 0},
	}
	var all []net.Listener
	for _, k := range kinds {
		all = append(all, b.listen(k.addr))
	}
	r := b.start()
	time.Sleep(1200 * time.Millisecond)
	b.do(func() error {
		for i, k := range kinds {
			for range n {
				c, err := net.Dial("tcp", k.addr)
				if err != nil {
					return err
				}
				s, err := all[i].Accept()
				if err != nil {
					return err
				}
				done := make(chan struct{})
				go func() { k.server(s); s.Close(); close(done) }()
				k.client(c)
				c.Close()
				<-done
			}
		}
		return nil
	})
	time.Sleep(100 * time.Millisecond)
	r.Stop()
	got := map[string]uint64{}
	for _, c := range b.needs(r, "sockets.connections").Connections {
		if c.Role == "accept" {
			got[c.Role+" "+c.Local] += c.Unasked
		} else {
			got[c.Role+" "+c.Remote] += c.Unasked
		}
	}
	for _, k := range kinds {
		for _, role := range []string{"accept ", "connect "} {
			if got[role+k.addr] != k.want {
				t.Errorf("%s%s: %d, want %d", role, k.addr, got[role+k.addr], k.want)
			}
		}
	}
}

func TestIPv6IsCountedAlike(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.listen("[::]:7014") // takes IPv4 as well
	r := b.start()
	time.Sleep(1200 * time.Millisecond)
	b.do(func() error {
		for _, addr := range []string{"[::1]:7014", "127.0.0.1:7014"} {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				return err
			}
			s, err := l.Accept()
			if err != nil {
				return err
			}
			c.Close()
			s.Close()
		}
		net.Dial("tcp6", "[::1]:7015") // nobody listens
		return nil
	})
	time.Sleep(100 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.connections")
	got := map[string]uint64{}
	for _, c := range rec.Connections {
		if c.Netns == b.id {
			got[c.Role+" "+c.Local+" "+c.Remote] += c.Opened + 100*c.Failed
			if c.PID != os.Getpid() {
				t.Errorf("pid of %+v", c)
			}
		}
	}
	for k, v := range map[string]uint64{
		"accept [::1]:7014 ::1": 1, "accept 127.0.0.1:7014 127.0.0.1": 1,
		"connect ::1 [::1]:7014": 1, "connect 127.0.0.1 127.0.0.1:7014": 1, "connect ::1 [::1]:7015": 100,
	} {
		if got[k] != v {
			t.Errorf("%s: %d, want %d; all %v", k, got[k], v, got)
		}
	}
	sent := 0
	for _, x := range rec.Resets {
		if x.Netns == b.id && x.Dir == "sent" && x.Local == "[::1]:7015" && recording.Host(x.Remote) == "::1" && recording.Port(x.Remote) != "0" {
			sent++
		}
	}
	if sent != 1 {
		t.Errorf("%d resets from the closed port: %+v", sent, rec.Resets)
	}
}
