package actor

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

var hopper = Actor{
	Name:  "hopper",
	About: "makes a connection for each request, to one server after another, and closes it first: its port is kept in TIME-WAIT",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "servers, address:port, with commas between")
		rate := f.Float64("rate", 50, "requests per second in all, at most 2000")
		count := f.Int("count", 0, "ends after so many; 0: goes on")
		if err := parse(); err != nil {
			return err
		}
		if *rate <= 0 || *rate > 2000 || *to == "" {
			return errors.New("--rate over 0 to 2000, --to one server at least")
		}
		servers := strings.Split(*to, ",")
		seen := newTally()
		go seen.report(ctx, os.Stdout)
		ready()
		every := time.Duration(float64(time.Second) / *rate)
		next := time.Now()
		for n := 0; *count == 0 || n < *count; n++ {
			seen.add(hop(servers[n%len(servers)]))
			next = next.Add(every)
			if time.Since(next) > time.Second {
				next = time.Now()
			}
			if !sleep(ctx, time.Until(next)) {
				return nil
			}
		}
		return nil
	},
}

// hop makes one request and reports how it went.
func hop(to string) string {
	conn, err := net.DialTimeout("tcp4", to, 5*time.Second)
	if err != nil {
		return errno(err)
	}
	defer conn.Close()
	buf := make([]byte, 128)
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := conn.Write(buf); err != nil {
		return errno(err)
	}
	if _, err := io.ReadFull(conn, buf); err != nil {
		return errno(err)
	}
	return "answer"
}
