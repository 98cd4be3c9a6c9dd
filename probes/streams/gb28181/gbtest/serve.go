package gbtest

import (
	"net"
	"testing"

	"github.com/emiago/sipgo/sip"
)

// Serve answers over "udp" or "tcp" until the test ends.
func (p *Platform) Serve(t *testing.T, network string) *Platform {
	t.Helper()
	p.t, p.bodies, p.calls = t, map[string]string{}, map[string]*played{}
	if network == "tcp" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p.Address = l.Addr().String()
		t.Cleanup(func() { _ = l.Close() })
		go p.accept(l)
		return p
	}
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.Address = c.LocalAddr().String()
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			m, err := sip.ParseMessage(append([]byte(nil), buf[:n]...))
			if err != nil {
				t.Errorf("a datagram is not a SIP message: %v: %q", err, buf[:n])
				continue
			}
			p.take(m, func(b []byte) { _, _ = c.WriteTo(b, from) })
		}
	}()
	return p
}

func (p *Platform) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		p.t.Cleanup(func() { _ = c.Close() })
		p.Set(func() { p.open = append(p.open, c) })
		go func() {
			in := sip.NewParser().NewSIPStream()
			buf := make([]byte, 700) // messages come in pieces
			for {
				n, err := c.Read(buf)
				if err != nil {
					return
				}
				_ = in.ParseSIPStream(buf[:n], func(m sip.Message) { p.take(m, func(b []byte) { _, _ = c.Write(b) }) })
			}
		}()
	}
}
