//go:build capture

// go test -tags capture makes the fixtures anew from this machine.

package diag

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestCapture writes the fixtures. The sockets are real
// and stand on loopback; nothing of their payload is in a diag message.
func TestCapture(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	l6, err := net.Listen("tcp6", "[::1]:0")
	must(t, err)
	defer l6.Close()
	dual, err := net.Listen("tcp", ":0")
	must(t, err)
	defer dual.Close()
	c, err := net.Dial("tcp4", l.Addr().String())
	must(t, err)
	defer c.Close()
	c.SetWriteDeadline(time.Now().Add(time.Second))
	for { // nobody reads: the window shuts
		if _, err := c.Write(make([]byte, 1<<16)); err != nil {
			break
		}
	}
	c6, err := net.Dial("tcp6", l6.Addr().String())
	must(t, err)
	defer c6.Close()
	c6.Write([]byte("hello"))
	_, port, _ := net.SplitHostPort(dual.Addr().String())
	m, err := net.Dial("tcp4", "127.0.0.1:"+port)
	must(t, err)
	defer m.Close()
	u, err := net.ListenPacket("udp4", "127.0.0.1:0")
	must(t, err)
	defer u.Close()
	u.(*net.UDPConn).SetReadBuffer(4096)
	uc, err := net.Dial("udp4", u.LocalAddr().String())
	must(t, err)
	defer uc.Close()
	for range 100 {
		uc.Write(make([]byte, 1000))
	}
	time.Sleep(50 * time.Millisecond)
	pick := []struct {
		name, what string
		k          Kind
		is         func(Found) bool
	}{
		{"tcp_persist", "a sender whose peer does not read", TCP4, func(f Found) bool { return f.Local == c.LocalAddr().String() }},
		{"tcp_established", "a connection over ::1 that has sent 5 bytes", TCP6, func(f Found) bool { return f.Local == c6.LocalAddr().String() }},
		{"tcp_listen", "a listener with one connection waiting", TCP4, func(f Found) bool { return f.Local == l.Addr().String() && f.State == "LISTEN" }},
		{"tcp_mapped", "an IPv4 connection of an IPv6 socket", TCP6, func(f Found) bool { return f.Remote == m.LocalAddr().String() }},
		{"udp_drops", "a receiver that does not read, 100 datagrams sent", UDP4, func(f Found) bool { return f.Local == u.LocalAddr().String() }},
		{"udp_connected", "its sender", UDP4, func(f Found) bool { return f.Local == uc.LocalAddr().String() }},
	}
	for _, p := range pick {
		raw := capture(t, p.k, p.is)
		if raw == nil {
			t.Fatalf("%s was not found", p.name)
		}
		text := fmt.Sprintf("# %s\n", p.what)
		for h := hex.EncodeToString(raw); h != ""; h = h[min(80, len(h)):] {
			text += h[:min(80, len(h))] + "\n"
		}
		must(t, os.WriteFile(filepath.Join("testdata", p.name+".hex"), []byte(text), 0o644))
	}
}

// capture dumps by hand to keep the bytes.
func capture(t *testing.T, k Kind, is func(Found) bool) (raw []byte) {
	conn, err := Open()
	must(t, err)
	defer conn.Close()
	conn.req = appendRequest(nil, k, AllStates, nil, 1)
	must(t, conn.send())
	buf := make([]byte, 1<<16)
	for raw == nil {
		n, _, err := unix.Recvfrom(conn.fd, buf, 0)
		must(t, err)
		for b := buf[:n]; len(b) >= 16; {
			size := int(u32of(b))
			if b[4] == unix.NLMSG_DONE {
				return raw
			}
			if f, err := Decode(b[16:size], k.Proto); err == nil && is(f) {
				raw = append([]byte(nil), b[16:size]...)
			}
			b = b[min(len(b), (size+3)&^3):]
		}
	}
	return raw
}
