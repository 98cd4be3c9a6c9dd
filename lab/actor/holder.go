package actor

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"time"
)

var holder = Actor{
	Name:  "holder",
	About: "opens connections and keeps them, as a pool does, prints \"held\" once all are open, and with --again reopens those that the server closes",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "address:port")
		n := f.Int("connections", 100, "how many, at most 4096")
		again := f.Duration("again", 0, "opens a connection that the server closed again, so long after")
		if err := parse(); err != nil {
			return err
		}
		if *n < 1 || *n > 4096 {
			return fmt.Errorf("--connections must be 1 to 4096, is %d", *n)
		}
		ready()
		var kept []net.Conn
		for range *n {
			c, err := net.DialTimeout("tcp4", *to, 10*time.Second)
			if err != nil {
				return fmt.Errorf("connection %d of %d: %w", len(kept)+1, *n, err)
			}
			kept = append(kept, c)
			if *again > 0 {
				go keepOpen(ctx, c, *again)
			}
		}
		fmt.Println("held")
		<-ctx.Done()
		for _, c := range kept {
			c.Close()
		}
		return nil
	},
}

// keepOpen opens a connection again whenever the server has closed it.
func keepOpen(ctx context.Context, c net.Conn, after time.Duration) {
	to := c.RemoteAddr().String()
	for {
		_, _ = io.Copy(io.Discard, c)
		c.Close()
		for again := false; !again; {
			if !sleep(ctx, after) {
				return
			}
			next, err := net.DialTimeout("tcp4", to, 10*time.Second)
			if again = err == nil; again {
				c = next
			}
		}
	}
}
