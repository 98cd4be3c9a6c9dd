package actor

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"sync"
)

// sharedServer is a Go program's convoy: goroutines that wait for a sync.Mutex are no
// threads, and wait in no futex.
var sharedServer = Actor{
	Name:  "shared-server",
	About: "answers requests with the answers of a backend, on one connection under a mutex or on one for each client",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port")
		to := f.String("backend", "", "address:port")
		own := f.Bool("own", false, "a connection to the backend for each client")
		idle := f.Int("idle", 0, "goroutines that wait on a channel for work that never comes")
		if err := parse(); err != nil {
			return err
		}
		work := make(chan func())
		for range *idle {
			go func() { (<-work)() }()
		}
		shared := &backendConn{}
		if !*own {
			c, err := net.Dial("tcp4", *to)
			if err != nil {
				return fmt.Errorf("connect to the backend: %w", err)
			}
			shared.c = c
		}
		return serve(ctx, *listen, func(c net.Conn) {
			backend := shared
			if *own {
				b, err := net.Dial("tcp4", *to)
				if err != nil {
					return
				}
				defer b.Close()
				backend = &backendConn{c: b}
			}
			buf := make([]byte, 128)
			for {
				if _, err := io.ReadFull(c, buf); err != nil {
					return
				}
				if err := backend.ask(buf); err != nil {
					return
				}
				if _, err := c.Write(buf); err != nil {
					return
				}
			}
		})
	},
}

// backendConn is a connection to the backend, for one request at a time.
type backendConn struct {
	mu sync.Mutex
	c  net.Conn
}

// ask holds the lock until the backend has answered.
func (b *backendConn) ask(buf []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.c.Write(buf); err != nil {
		return err
	}
	_, err := io.ReadFull(b.c, buf)
	return err
}
