package actor

import (
	"context"
	"flag"
	"io"
	"net"
)

var pooler = Actor{
	Name:  "pooler",
	About: "passes requests of a fixed size on to an upstream, over so many connections that it keeps, as PgBouncer does: who finds none free waits",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port")
		to := f.String("to", "", "address:port of the upstream")
		size := f.Int("size", 128, "bytes of a request and of its answer")
		pool := f.Int("pool", 20, "connections to the upstream")
		if err := parse(); err != nil {
			return err
		}
		free := make(chan net.Conn, *pool)
		for range *pool {
			c, err := net.Dial("tcp4", *to)
			if err != nil {
				return err
			}
			defer c.Close()
			free <- c
		}
		return serve(ctx, *listen, func(c net.Conn) {
			buf := make([]byte, *size)
			for {
				if _, err := io.ReadFull(c, buf); err != nil {
					return
				}
				up := <-free
				_, err := up.Write(buf)
				if err == nil {
					_, err = io.ReadFull(up, buf)
				}
				free <- up
				if err != nil {
					return
				}
				if _, err := c.Write(buf); err != nil {
					return
				}
			}
		})
	},
}
