package load

import (
	"net"
	"testing"
)

// serving has each connection served on its own, and closed when that is done. It returns its address.
func serving(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return l.Addr().String()
}

// echoAfter is a service that sends back what it read once wait has returned. It returns its address.
func echoAfter(t *testing.T, wait func()) string {
	t.Helper()
	return serving(t, func(c net.Conn) {
		b := make([]byte, 64)
		for {
			n, err := c.Read(b)
			if err != nil {
				return
			}
			wait()
			_, _ = c.Write(b[:n])
		}
	})
}
