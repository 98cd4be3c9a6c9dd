package actor

import (
	"context"
	"flag"
	"fmt"
	"net"
	"time"
)

var holder = Actor{
	Name:  "holder",
	About: "opens connections and keeps them, as a pool does; prints \"held\" once all are open",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "address:port")
		n := f.Int("connections", 100, "how many, at most 4096")
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
		}
		fmt.Println("held")
		<-ctx.Done()
		for _, c := range kept {
			c.Close()
		}
		return nil
	},
}
