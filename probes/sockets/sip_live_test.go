package sockets

import (
	"net"
	"testing"
	"time"

	"golang.org/x/net/ipv4"
)

// Answers of SIP by UDP, as kamailio sends them.
func TestAnswersOfSIP(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const trying, ok, who, busy, decline = "SIP/2.0 100 Trying\r\n\r\n", "SIP/2.0 200 OK\r\n\r\n", "SIP/2.0 401 Unauthorized\r\n\r\n", "SIP/2.0 503 Service Unavailable\r\n\r\n", "SIP/2.0 603 Decline\r\n\r\n"
	byOne := func(c *net.UDPConn, answer []byte, to *net.UDPAddr) {
		_, _ = ipv4.NewPacketConn(c).WriteBatch([]ipv4.Message{{Buffers: [][]byte{answer}, Addr: to}}, 0)
	}
	byTwo := func(c *net.UDPConn, answer []byte, to *net.UDPAddr) {
		m := ipv4.Message{Buffers: [][]byte{answer}, Addr: to}
		_, _ = ipv4.NewPacketConn(c).WriteBatch([]ipv4.Message{m, m}, 0)
	}
	all := []struct {
		what, network, addr string
		send                func(c *net.UDPConn, answer []byte, to *net.UDPAddr)
		says                []string
		answers, failed     uint64
	}{
		{"overloaded", "udp4", "127.0.0.1:5060", bySendto, []string{busy}, 10, 10},
		{"well", "udp4", "127.0.0.1:5062", bySendmsg, []string{trying, ok, who}, 20, 0},
		{"now and then", "udp4", "0.0.0.0:5063", bySendmsg, []string{ok, busy, ok, decline, ok}, 50, 20},
		{"of IPv6", "udp6", "[::1]:5064", bySendto, []string{busy, ok}, 20, 10},
		{"by sendmmsg", "udp4", "127.0.0.1:5065", byOne, []string{busy}, 10, 10},
		{"several messages of one call", "udp4", "127.0.0.1:5066", byTwo, []string{busy}, 0, 0},
		{"a stream", "udp4", "127.0.0.1:5067", bySendto, []string{"RTP is something else"}, 0, 0},
		{"words that begin so", "udp4", "127.0.0.1:5068", bySendto, []string{"SIP/2.0 5034 of them\r\n"}, 0, 0},
	}
	for _, a := range all {
		b.nameServer(a.network, a.addr, func(c *net.UDPConn) {
			buf := make([]byte, 1500)
			for {
				_, from, err := c.ReadFromUDP(buf)
				if err != nil {
					return
				}
				for _, s := range a.says {
					a.send(c, []byte(s), from)
				}
			}
		})
	}
	r := b.start()
	for _, a := range all {
		to := a.addr
		if to == "0.0.0.0:5063" {
			to = "127.0.0.1:5063"
		}
		var c net.Conn
		b.do(func() (err error) {
			c, err = net.Dial("udp", to)
			return err
		})
		for range 10 {
			_, _ = c.Write([]byte("OPTIONS sip:test SIP/2.0\r\n\r\n"))
			_ = c.SetReadDeadline(time.Now().Add(3 * time.Second))
			for range a.says {
				if _, err := c.Read(make([]byte, 1500)); err != nil {
					t.Errorf("%s: %v", a.what, err)
				}
			}
		}
		c.Close()
	}
	time.Sleep(300 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	for _, a := range all {
		s := served(rec, b, a.addr)
		if s.Untimed != a.answers || s.Failed != a.failed || s.N != 0 || s.Sum != 0 || (s.FailedAs == answers[2]) != (a.failed > 0) {
			t.Errorf("%s: %+v, want %d answers, %d failed", a.what, s, a.answers, a.failed)
		}
		if a.answers > 0 && (s.PID == 0 || s.Comm == "" || s.Remote != "127.0.0.1" && s.Remote != "::1") {
			t.Errorf("%s: %+v", a.what, s)
		}
	}
}
