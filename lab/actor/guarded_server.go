package actor

import (
	"context"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"net"
	"sync/atomic"
)

var guardedServer = Actor{
	Name:  "guarded-server",
	About: "answers requests of a fixed size on up to --clients connections; a further one gets an error and is closed, as Redis does at maxclients",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port")
		most := f.Int("clients", 100, "connections at a time")
		fail := f.Float64("fail", 0, "share of the requests that are answered with an error")
		size := f.Int("size", 128, "bytes of a request and of its answer")
		if err := parse(); err != nil {
			return err
		}
		l, err := net.Listen("tcp4", *listen)
		if err != nil {
			return err
		}
		ready()
		var open atomic.Int64
		go func() {
			<-ctx.Done()
			l.Close()
		}()
		for {
			c, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			if err != nil {
				return err
			}
			if open.Add(1) > int64(*most) {
				_, _ = io.WriteString(c, "-ERR max number of clients reached\r\n")
				open.Add(-1)
				c.Close()
				continue
			}
			go func() {
				defer open.Add(-1)
				defer c.Close()
				buf := make([]byte, *size)
				for {
					if _, err := io.ReadFull(c, buf); err != nil {
						return
					}
					copy(buf, "+OK\r\n")
					if rand.Float64() < *fail { //nolint:gosec // who is hit needs no secret
						copy(buf, "-OOM command not allowed\r\n")
					}
					if _, err := c.Write(buf); err != nil {
						return
					}
				}
			}()
		}
	},
}
