package sockets

import (
	"net"
	"testing"
	"time"
)

// Whose FIN came first is known at both ends, of connections that were there before snag too.
func TestWhichEndClosesFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const client, server = "127.0.0.1:7031", "127.0.0.1:7032" // which closes first
	dial := func(addr string, l net.Listener) (ends [2]net.Conn) {
		b.do(func() error {
			var err error
			if ends[0], err = net.Dial("tcp", addr); err != nil {
				return err
			}
			ends[1], err = l.Accept()
			return err
		})
		return ends
	}
	lc, ls := b.listen(client), b.listen(server)
	olds := [][2]net.Conn{dial(client, lc), dial(server, ls)}
	r := b.start()
	time.Sleep(1200 * time.Millisecond)
	young := [][2]net.Conn{dial(client, lc), dial(server, ls)}
	for _, pair := range append(olds, young...) {
		first, second := pair[0], pair[1]
		if first.RemoteAddr().String() == server {
			first, second = second, first
		}
		first.Close()
		_, _ = second.Read(make([]byte, 1))
		second.Close()
	}
	time.Sleep(1200 * time.Millisecond)
	r.Stop()
	got := map[string]uint64{}
	for _, c := range b.needs(r, "sockets.connections").Connections {
		if c.Netns != b.id {
			continue
		}
		addr := c.Local
		if c.Role == "connect" {
			addr = c.Remote
		}
		got[c.Role+" "+addr] += c.ByPeer
		got["closed "+c.Role+" "+addr] += c.Closed
	}
	for at, want := range map[string]uint64{"accept " + client: 2, "connect " + client: 0, "accept " + server: 0, "connect " + server: 2} {
		if got[at] != want || got["closed "+at] != 2 {
			t.Errorf("%s: %d of %d were ended by the peer, want %d of 2", at, got[at], got["closed "+at], want)
		}
	}
}
