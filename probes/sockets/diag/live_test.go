package diag

import (
	"flag"
	"fmt"
	"net"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

var (
	update = flag.Bool("update", false, "write testdata/*.json anew from *.hex")
)

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
