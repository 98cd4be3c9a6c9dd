package churntest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/netns"
)

// server listens on a port of its own, answers some HTTP requests, each on a new connection, and closes.
type server struct{ connections int }

func (s server) once(ctx context.Context) error { return s.serve(ctx, time.Second) }

func (s server) serve(ctx context.Context, lasts time.Duration) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	go answer(l)
	for range s.connections {
		if err := ask(l.Addr().String()); err != nil {
			return err
		}
		if !pause(ctx, lasts/time.Duration(s.connections)) {
			return nil
		}
	}
	return nil
}

// answer answers each connection's request until the listener is closed.
func answer(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		if _, err := bufio.NewReader(c).ReadString('\n'); err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
		c.Close()
	}
}

func ask(addr string) error {
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: churn\r\n\r\n"); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, c)
	return err
}

// namespace makes a network namespace, with a service and connections in it, that ends three seconds later.
func namespace(ctx context.Context) error {
	return netns.DoFresh(func() error {
		if err := loopback(); err != nil {
			return fmt.Errorf("loopback of a new network namespace: %w", err)
		}
		return quiet(ctx, 4, 3*time.Second)
	})
}

// Crowd holds connections in a network namespace of its own until ctx ends; a tenth of them have traffic
// once a second.
func Crowd(ctx context.Context, connections int) error {
	return netns.DoFresh(func() error {
		if err := loopback(); err != nil {
			return fmt.Errorf("loopback of a new network namespace: %w", err)
		}
		return quiet(ctx, connections, 0)
	})
}

// quiet holds connections for a time, or until ctx ends.
func quiet(ctx context.Context, connections int, lasts time.Duration) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	var held []net.Conn
	defer func() {
		for _, c := range held {
			c.Close()
		}
	}()
	for range connections {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			return err
		}
		other, err := l.Accept()
		if err != nil {
			c.Close()
			return err
		}
		held = append(held, c, other)
	}
	if lasts > 0 {
		pause(ctx, lasts)
		return nil
	}
	for pause(ctx, time.Second) {
		for i := 0; i < len(held)/10; i += 2 {
			if err := exchange(held[i], held[i+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

func exchange(a, b net.Conn) error {
	buf := make([]byte, 200)
	if _, err := a.Write(buf); err != nil {
		return err
	}
	_, err := io.ReadFull(b, buf)
	return err
}

// loopback sets the loopback device of this thread's network namespace up.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r)
}

// pause returns false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
