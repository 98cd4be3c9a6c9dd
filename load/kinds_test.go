package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestKindsOfErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want Kind
	}{
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", unix.ECONNREFUSED)}, Refused},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("read", unix.ECONNRESET)}, Reset},
		{&loginError{unix.EPIPE}, Reset},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", unix.ETIMEDOUT)}, NoConnect},
		{os.NewSyscallError("connect", unix.EHOSTUNREACH), NoConnect},
		{context.DeadlineExceeded, NoConnect},
		{&loginError{fmt.Errorf("handshake: %w", os.ErrDeadlineExceeded)}, NoConnect},
		{&loginError{errors.New("password authentication failed")}, NoLogin},
		{errors.New("something else"), Failure},
		{unix.EMFILE, Failure},
	} {
		if got := KindOf(tt.err); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.err, got, tt.want)
		}
	}
}

// Where some logins fail, these are counted by kind, and the other connections are asked.
func TestLoginsOfWhichSomeFail(t *testing.T) {
	var n atomic.Int64
	at := takes(t, func(c net.Conn) {
		refuses, b := n.Add(1)%2 == 0, make([]byte, 4096)
		for {
			m, err := c.Read(b)
			if err != nil {
				return
			}
			answer := "+OK\r\n"
			if refuses && strings.Contains(string(b[:m]), "AUTH") {
				answer = "-WRONGPASS\r\n"
			}
			if _, err := fmt.Fprint(c, answer); err != nil {
				return
			}
		}
	})
	p := plan(target(t, "redis://:secret@"+at, Request{}))
	p.Rate, p.Conns, p.For = 40, 4, 300*time.Millisecond
	r, err := Run(context.Background(), p)
	if err != nil || r.Lost[NoLogin] == 0 || len(r.Lost) != 1 || r.Done == 0 || r.Done != r.Sent {
		t.Errorf("%d sent, %d answered, lost %v, %v", r.Sent, r.Done, r.Lost, err)
	}
}

// A listener whose queue is full drops SYNs: no connection is made in time, and that is said as such.
func TestNoConnectionInTime(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	at := fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
	for range 3 { // they fill the queue
		c, err := net.DialTimeout("tcp", at, 100*time.Millisecond)
		if err == nil {
			defer c.Close()
		}
	}
	p := plan(target(t, "tcp://"+at, Request{Size: 8, Reply: 8}))
	p.For = 200 * time.Millisecond
	_, err = Run(context.Background(), p)
	if err == nil || !strings.Contains(err.Error(), string(NoConnect)) {
		t.Errorf("%v", err)
	}
}
