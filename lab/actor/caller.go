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

	"snag/lab/clientlog"
)

var caller = Actor{
	Name:  "caller",
	About: "connects at a rate; each connection sends a request, waits for the answer's end and closes",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "server, address:port, or the path of a UNIX socket")
		rate := f.Float64("rate", 20, "connects per second in all, at most 1000")
		most := f.Int("clients", 50, "connections open at a time, at most 512; a turn that finds all busy is skipped")
		timeout := f.Duration("timeout", 5*time.Second, "give up on a connection after")
		burst := f.Int("burst", 1, "connects at the same instant; the rate stays the same")
		bursty := f.Int("bursty", 0, "as many at the same instant instead, while SIGUSR1 has switched it on")
		path := f.String("log", "", "file for the client's log")
		if err := parse(); err != nil {
			return err
		}
		log, err := clientlog.Create(*path)
		if err != nil {
			return err
		}
		defer log.Close()
		on := switched(ctx, syscall.SIGUSR1, false, "bursty")
		if *rate <= 0 || *rate > 1000 || *most < 1 || *most > 512 || *burst < 1 || max(*burst, *bursty) > *most {
			return errors.New("--rate over 0 to 1000, --clients 1 to 512, --burst 1 to --clients")
		}
		seen := newTally()
		free := make(chan struct{}, *most)
		go seen.report(ctx, os.Stdout)
		ready()
		for n := *burst; sleep(ctx, around(time.Duration(float64(n) / *rate * float64(time.Second)))); {
			if n = *burst; on.Load() && *bursty > 0 {
				n = *bursty
			}
			for range n {
				id := log.Begin(time.Now())
				select {
				case free <- struct{}{}:
					go func() { log.End(id, outcome(call(*to, *timeout, seen))); <-free }()
				default:
					seen.add("skipped")
					log.End(id, clientlog.Lost)
				}
			}
		}
		return nil
	},
}

func call(to string, timeout time.Duration, seen *tally) error {
	begun := time.Now()
	conn, err := net.DialTimeout(networkOf(to), to, timeout)
	if err != nil {
		seen.took("connect-failed", time.Since(begun))
		return err
	}
	defer conn.Close()
	seen.took("connect", time.Since(begun))
	_ = conn.SetDeadline(begun.Add(timeout))
	_, err = conn.Write([]byte("hello, give me the playlist\n"))
	if err == nil {
		_, err = io.ReadFull(conn, make([]byte, answerSize))
	}
	if err != nil {
		seen.took("unanswered", time.Since(begun))
		return err
	}
	seen.took("answer", time.Since(begun))
	return nil
}
