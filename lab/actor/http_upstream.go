package actor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var httpUpstream = Actor{
	Name:  "http-upstream",
	About: "answers HTTP requests; SIGUSR2 switches it to being slow and back",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port, or the path of a UNIX socket")
		backlog := f.Int("backlog", 0, "connections that may wait to be accepted; 0: the system's")
		size := f.Int("size", 128, "bytes of an answer")
		wait := f.Duration("wait", 0, "time that an answer takes")
		slow := f.Duration("slow", 0, "time that it takes besides, while it is slow")
		accept := f.Duration("accept", 0, "time from one accepted connection to the next, while it is slow")
		workers := f.Int("workers", 0, "requests that are worked on at once; 0: any number")
		if err := parse(); err != nil {
			return err
		}
		l, err := listenWith(*listen, *backlog)
		if err != nil {
			return err
		}
		well := switched(ctx, unix.SIGUSR2, true, "well")
		places := make(chan struct{}, max(1, *workers))
		body := []byte(strings.Repeat("x", *size))
		s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if *workers > 0 {
				places <- struct{}{}
				defer func() { <-places }()
			}
			takes := *wait
			if !well.Load() {
				takes += *slow
			}
			sleep(ctx, takes)
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			_, _ = w.Write(body)
		})}
		go func() { <-ctx.Done(); s.Close() }()
		ready()
		if err := s.Serve(slowListener{l, ctx, well, *accept}); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	},
}

// listenWith listens at an address or a path, with that backlog.
func listenWith(at string, backlog int) (net.Listener, error) {
	l, err := net.Listen(networkOf(at), at)
	if err != nil || backlog == 0 {
		return l, err
	}
	raw, err := l.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, err
	}
	var listenErr error
	// A second listen() changes the backlog.
	if err := raw.Control(func(fd uintptr) { listenErr = unix.Listen(int(fd), backlog) }); err != nil {
		return nil, err
	}
	return l, listenErr
}

type slowListener struct {
	net.Listener
	ctx   context.Context
	well  *atomic.Bool
	every time.Duration
}

func (l slowListener) Accept() (net.Conn, error) {
	if !l.well.Load() {
		sleep(l.ctx, l.every)
	}
	return l.Listener.Accept()
}
