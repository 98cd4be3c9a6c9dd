package diag

import (
	"encoding/hex"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var (
	recapture = flag.Bool("capture", false, "write testdata/*.hex anew from this machine's kernel")
	update    = flag.Bool("update", false, "write testdata/*.json anew from *.hex")
)

// TestCapture writes the fixtures when asked with -capture. The sockets are real
// and stand on loopback; nothing of their payload is in a diag message.
func TestCapture(t *testing.T) {
	if !*recapture {
		t.Skip("writes fixtures: only with -capture")
	}
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDumpAndGetSeeTheSameSocket(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	c, err := net.Dial("tcp4", l.Addr().String())
	must(t, err)
	conn, err := Open()
	must(t, err)
	defer conn.Close()
	var found Found
	must(t, conn.Dump(TCP4, AllStates, func(f Found) {
		if f.Local == c.LocalAddr().String() {
			found = f
		}
	}))
	if found.State != "ESTABLISHED" || found.Remote != l.Addr().String() || found.TCP == nil || found.TCP.SndMSS == 0 || found.Cookie == 0 || found.Inode == 0 || found.RcvBuf == 0 {
		t.Fatalf("%+v", found)
	}
	// The same figures by getsockopt, whose struct x/sys lays out.
	raw, err := c.(*net.TCPConn).SyscallConn()
	must(t, err)
	must(t, raw.Control(func(fd uintptr) {
		i, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			t.Error(err)
			return
		}
		got := fmt.Sprint(found.TCP.SndMSS, found.TCP.Cwnd, found.TCP.RcvSpace, found.TCP.BytesAcked, found.TCP.SegsOut, found.TCP.SegsIn, found.TCP.SndWnd, found.TCP.RTO, found.TCP.MinRTT, found.TCP.PacingRate)
		want := fmt.Sprint(i.Snd_mss, i.Snd_cwnd, i.Rcv_space, i.Bytes_acked, i.Segs_out, i.Segs_in, i.Snd_wnd, float64(i.Rto)/1e6, float64(i.Min_rtt)/1e6, float64(i.Pacing_rate))
		if got != want {
			t.Errorf("tcp_info by diag %s, by getsockopt %s", got, want)
		}
	}))
	gone := found.ID
	gone[40] ^= 0x55 // another cookie: a socket that does not exist
	var again []Found
	ids := make([][idSize]byte, 150)
	for i := range ids {
		ids[i] = gone
	}
	ids[3], ids[149] = found.ID, found.ID
	must(t, conn.Get(TCP4, ids, func(f Found) { again = append(again, f) }))
	if len(again) != 2 || again[0].Cookie != found.Cookie || again[1].TCP == nil {
		t.Errorf("asked for one socket twice among many that do not exist: %d answers", len(again))
	}
	n := 0
	must(t, conn.Dump(TCP4, 1<<Listen, func(f Found) {
		if f.State != "LISTEN" {
			t.Errorf("asked for listeners, got %s", f.State)
		}
		if f.Local == l.Addr().String() && f.Remote == "" && f.TCP == nil {
			n++
		}
	}))
	if n != 1 {
		t.Errorf("the listener was seen %d times", n)
	}
	c.Close()
}

// BenchmarkDump10k dumps 10,000 sockets: 5,000 connections over loopback.
func BenchmarkDump10k(b *testing.B) {
	var lim unix.Rlimit
	must(b, unix.Getrlimit(unix.RLIMIT_NOFILE, &lim))
	if lim.Max < 11000 {
		b.Skip("needs 11,000 descriptors: ulimit -n")
	}
	must(b, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: lim.Max, Max: lim.Max}))
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(b, err)
	defer l.Close()
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			c.(*net.TCPConn).SetLinger(0) // no TIME-WAIT left behind
			c.Close()
		}
	}()
	for range 5000 {
		c, err := net.Dial("tcp4", l.Addr().String())
		must(b, err)
		s, err := l.Accept()
		must(b, err)
		conns = append(conns, c, s)
	}
	conn, err := Open()
	must(b, err)
	defer conn.Close()
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, k := range Kinds {
			must(b, conn.Dump(k, AllStates, func(f Found) {
				if strings.HasSuffix(f.Local, l.Addr().String()) || f.Remote == l.Addr().String() {
					n++
				}
			}))
		}
		if n < 10000 {
			b.Fatalf("%d sockets", n)
		}
	}
}
