package load

import (
	"context"
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

// replies has a server answer each read with so many bytes, over TCP or UDP.
func replies(t *testing.T, network string, bytes int) Target {
	t.Helper()
	b := make([]byte, bytes)
	if network == "udp" {
		c, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		go func() {
			in := make([]byte, 4096)
			for {
				n, from, err := c.ReadFrom(in)
				if err != nil {
					return
				}
				copy(b, in[:n])
				_, _ = c.WriteTo(b, from)
			}
		}()
		return target(t, "udp://"+c.LocalAddr().String(), Request{Size: 64, Reply: 64})
	}
	return target(t, "tcp://"+takes(t, func(c net.Conn) {
		in := make([]byte, 64)
		for {
			if _, err := io.ReadFull(c, in); err != nil {
				return
			}
			if _, err := c.Write(b); err != nil {
				return
			}
		}
	}), Request{Size: 64, Reply: 64})
}

// takes runs f on each connection to the address that it returns.
func takes(t *testing.T, f func(net.Conn)) string {
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
				f(c)
			}()
		}
	}()
	return l.Addr().String()
}

// Answers of another size: a datagram is one all the same, and is counted. A stream has no ends of messages: what is
// longer has bytes that nobody asked for, and what is shorter is no answer.
func TestAnswersOfAnotherSize(t *testing.T) {
	for _, tt := range []struct {
		network string
		bytes   int
		is      func(r *Result) bool
	}{
		{"udp", 64, func(r *Result) bool { return r.Done == r.Sent && r.Odd == 0 }},
		{"udp", 20, func(r *Result) bool { return r.Done == r.Sent && r.Odd == r.Done }},
		{"udp", 100, func(r *Result) bool { return r.Done == r.Sent && r.Odd == r.Done }},
		{"tcp", 64, func(r *Result) bool { return r.Done == r.Sent && r.Unasked == 0 }},
		{"tcp", 128, func(r *Result) bool { return r.Done == r.Sent && r.Unasked == r.Done }},
		{"tcp", 20, func(r *Result) bool { return r.Done == 0 && r.Lost[NoAnswer] == r.Sent }},
	} {
		p := plan(replies(t, tt.network, tt.bytes))
		p.Rate, p.Timeout, p.For = 50, 100*time.Millisecond, 600*time.Millisecond
		r, err := Run(context.Background(), p)
		if err != nil || r.Sent == 0 || !tt.is(r) {
			t.Errorf("%s, %d bytes of 64: %d sent, %d answered, %d of another size, %d unasked, lost %v, %v", tt.network, tt.bytes, r.Sent, r.Done, r.Odd, r.Unasked, r.Lost, err)
		}
	}
}

// A service that answers before it has read the request, and closes the connection or leaves it open, has answered.
// What is left of the request is not sent on that connection.
func TestEarlyAnswers(t *testing.T) {
	body := make([]byte, 8<<20) // more than the sockets' buffers take
	for i := range body {
		body[i] = 'x'
	}
	for _, tt := range []struct {
		name, answer string
		closes       bool
	}{
		{"with its length", "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno", false},
		{"and closes", "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno", true},
		{"with the end of the connection", "HTTP/1.0 413 Content Too Large\r\n\r\nno", true},
	} {
		at := takes(t, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1000))
			_, _ = fmt.Fprint(c, tt.answer)
			if tcp, ok := c.(*net.TCPConn); ok && tt.closes {
				_ = tcp.CloseWrite()
			}
			time.Sleep(2 * time.Second)
		})
		p := plan(target(t, "http://"+at+"/", Request{Data: string(body)}))
		p.Rate, p.Conns, p.For, p.Timeout = 20, 2, 500*time.Millisecond, 500*time.Millisecond
		r, err := Run(context.Background(), p)
		if err != nil || r.Sent == 0 || r.Done != r.Sent || r.Early != r.Done || !r.Lossless() || r.Unasked > 0 {
			t.Errorf("%s: %d sent, %d answered, %d early, %d unasked, lost %v, %v", tt.name, r.Sent, r.Done, r.Early, r.Unasked, r.Lost, err)
		}
	}
}

// What comes back while messages are sent at a bit rate is no early answer: nobody awaits it.
func TestABandwidthHasNoEarlyAnswers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go echoes(l)
	r := bandwidth(t, target(t, "tcp://"+l.Addr().String(), Request{Size: 8 << 20, Reply: 8 << 20}), 8e9, time.Second)
	if r.Early != 0 || r.Unasked == 0 || len(r.Lost) > 0 {
		t.Errorf("%d early, %d came back, lost %v", r.Early, r.Unasked, r.Lost)
	}
}
