package actor

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// missing begins a request for what a slow-acceptor does not have.
const missing = "missing"

var reconnecter = Actor{
	Name:  "reconnecter",
	About: "clients that ask a slow-acceptor for what it does not have, are refused, and come back after a pause, a shorter one while SIGUSR1 has switched it on",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "address:port")
		clients := f.Int("clients", 4, "at a time, at most 256")
		calm := f.Duration("calm", 5*time.Second, "pause, on the average")
		pause := f.Duration("pause", 10*time.Millisecond, "pause while it is a storm, on the average")
		if err := parse(); err != nil {
			return err
		}
		if *clients < 1 || *clients > 256 || *pause < time.Millisecond {
			return errors.New("--clients 1 to 256, --pause 1ms or more")
		}
		storm := switched(ctx, syscall.SIGUSR1, false, "storm")
		seen := newTally()
		for range *clients {
			go func() {
				for ctx.Err() == nil {
					wait := around(*calm)
					for begun := time.Now(); time.Since(begun) < wait && !storm.Load(); {
						if !sleep(ctx, min(50*time.Millisecond, wait)) {
							return
						}
					}
					if storm.Load() {
						sleep(ctx, around(*pause))
					}
					seen.add(refusedBy(*to))
				}
			}()
		}
		ready()
		seen.report(ctx, os.Stdout)
		return nil
	},
}

// refusedBy asks once and returns what came.
func refusedBy(to string) string {
	conn, err := net.DialTimeout("tcp4", to, 5*time.Second)
	if err != nil {
		return errno(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := conn.Write([]byte(missing)); err != nil {
		return errno(err)
	}
	if _, err := io.ReadAll(conn); err != nil {
		return errno(err)
	}
	return "refused"
}
