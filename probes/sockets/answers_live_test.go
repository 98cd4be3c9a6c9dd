package sockets

import (
	"snag/recording"

	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ways are the calls by which a program answers.
var ways = map[string]func(t *testing.T, c *net.TCPConn, b []byte){
	"write": func(_ *testing.T, c *net.TCPConn, b []byte) { _, _ = c.Write(b) },
	"writev": func(_ *testing.T, c *net.TCPConn, b []byte) {
		two := net.Buffers{b[:3], b[3:5], b[5:]}
		_, _ = two.WriteTo(c)
	},
	"sendmsg": func(t *testing.T, c *net.TCPConn, b []byte) {
		onFD(t, c, func(fd int) error { return unix.Sendmsg(fd, b, nil, nil, 0) })
	},
	"sendto": func(t *testing.T, c *net.TCPConn, b []byte) {
		onFD(t, c, func(fd int) error { return unix.Send(fd, b, 0) })
	},
}

func onFD(t *testing.T, c syscall.Conn, do func(fd int) error) {
	raw, err := c.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { err = do(int(fd)) })
	}
	if err != nil {
		t.Error(err)
	}
}

// What real servers of each protocol write, errors and what is none.
func TestFailedAnswers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start()
	type answer struct {
		what, bytes, as string
	}
	all := []answer{
		{"nginx's bad gateway", "HTTP/1.1 502 Bad Gateway\r\nServer: nginx\r\n\r\n", answers[1]},
		{"too many requests", "HTTP/1.1 429 Too Many Requests\r\n\r\n", answers[1]},
		{"a page that is not there", "HTTP/1.1 404 Not Found\r\n\r\n", ""},
		{"a page", "HTTP/1.1 200 OK\r\n\r\n5", ""},
		{"kamailio's overload", "SIP/2.0 503 Service Unavailable\r\n\r\n", answers[2]},
		{"who is asked who he is", "SIP/2.0 401 Unauthorized\r\n\r\n", ""},
		{"no bandwidth", "RTSP/1.0 453 Not Enough Bandwidth\r\n\r\n", answers[3]},
		{"Redis without memory", "-OOM command not allowed when used memory > 'maxmemory'.\r\n", answers[4]},
		{"a key on another node", "-MOVED 3999 127.0.0.1:6381\r\n", ""},
		{"a number of Redis", ":42\r\n+OK\r\n         ", ""},
		{"memcached without memory", "SERVER_ERROR out of memory storing object\r\n", answers[5]},
		{"a value of memcached", "VALUE key 0 5\r\nhello\r\nEND\r\n", ""},
		{"PostgreSQL's deadlock", "E\x00\x00\x00\x7fSERROR\x00VERROR\x00C40P01\x00", answers[6]},
		{"rows of PostgreSQL", "T\x00\x00\x00\x21\x00\x01count\x00\x00\x00", ""},
		{"MySQL's lock wait timeout", "\x33\x00\x00\x01\xff\xb5\x04#HY000Lock wait timeout", answers[7]},
		{"MySQL's OK", "\x07\x00\x00\x01\x00\x01\x00\x02\x00\x00\x00        ", ""},
		{"an end of rows of MySQL", "\x05\x00\x00\x05\xfe\x00\x00\x02\x00          ", ""},
		{"RabbitMQ closes", "\x01\x00\x00\x00\x00\x00\x40\x00\x0a\x00\x32\x01\x40RESOURCE", answers[8]},
		{"mosquitto refuses", "\x20\x02\x00\x05            ", answers[9]},
		{"mosquitto lets in", "\x20\x02\x00\x00            ", ""},
		{"no common cipher", "\x15\x03\x03\x00\x02\x02\x28            ", recording.TLSAlert(40, false)},
		{"a warning that it closes", "\x15\x03\x03\x00\x02\x01\x00            ", ""},
		{"a short answer", "ok okay", ""},
	}
	const rounds = 3
	port := map[string]answer{}
	i := 0
	for _, a := range all {
		for way, send := range ways {
			i++
			local := "127.0.0.1:" + fmt.Sprint(7100+i)
			port[fmt.Sprint(7100+i)] = answer{a.what + " by " + way, a.bytes, a.as}
			l := b.listen(local)
			go func() {
				c, err := l.Accept()
				if err != nil {
					return
				}
				buf := make([]byte, 10)
				for {
					if _, err := c.Read(buf); err != nil {
						c.Close()
						return
					}
					send(t, c.(*net.TCPConn), []byte(a.bytes))
				}
			}()
			c := b.dial(local)
			buf := make([]byte, 256)
			for range rounds {
				_, _ = c.Write(make([]byte, 10))
				_, _ = c.Read(buf)
			}
			c.Close()
		}
	}
	// A connection beyond the limit gets its error before it asked for anything.
	l := b.listen("127.0.0.1:7099")
	go func() {
		for range rounds {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("\x17\x00\x00\x00\xff\x10\x04Too many connections"))
			c.Close()
		}
	}()
	for range rounds {
		c := b.dial("127.0.0.1:7099")
		_, _ = c.Read(make([]byte, 64))
		c.Close()
	}
	// A client that objects to the server's certificate, before it has asked for anything.
	l = b.listen("127.0.0.1:7098")
	go func() {
		for i := range rounds {
			c, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 256)
			_, _ = c.Read(buf)
			_, _ = c.Write([]byte("\x16\x03\x03\x00\x04flight"))
			if i > 0 { // as OpenSSL reads: first the head
				_, _ = c.Read(buf[:5])
			}
			_, _ = c.Read(buf)
			c.Close()
		}
	}()
	for range rounds {
		c := b.dial("127.0.0.1:7098")
		_, _ = c.Write([]byte("\x16\x03\x01\x00\x05hello"))
		_, _ = c.Read(make([]byte, 64))
		_, _ = c.Write([]byte("\x15\x03\x03\x00\x02\x02\x2d"))
		_, _ = c.Read(make([]byte, 64))
		c.Close()
	}
	port["7098"] = answer{"a client for whom the certificate has expired", "", recording.TLSAlert(45, true)}
	port["7099"] = answer{"MySQL's greeting of one too many", "", answers[7]}
	time.Sleep(300 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	for p, a := range port {
		n, as := uint64(0), ""
		_, rows := turns(rec, b, "serve", p)
		for _, row := range rows {
			if n += row.Failed; row.Failed > 0 {
				as = row.FailedAs
			}
		}
		want := uint64(0)
		if a.as != "" {
			want = rounds
		}
		if n != want || as != a.as {
			t.Errorf("%s: %d failed as %q, want %d as %q", a.what, n, as, want, a.as)
		}
	}
}
