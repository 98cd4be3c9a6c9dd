package actor

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"time"
)

var caller = Actor{
	Name:  "caller",
	About: "connects at a rate; each connection sends a request, waits for the answer's end and closes",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "server, address:port")
		rate := f.Float64("rate", 20, "connects a second in all, at most 1000")
		most := f.Int("clients", 50, "connections open at a time, at most 512; a turn that finds all busy is skipped")
		timeout := f.Duration("timeout", 5*time.Second, "give up on a connection after")
		burst := f.Int("burst", 1, "connects at the same instant; the rate stays the same")
		if err := parse(); err != nil {
			return err
		}
		if *rate <= 0 || *rate > 1000 || *most < 1 || *most > 512 || *burst < 1 || *burst > *most {
			return errors.New("--rate over 0 to 1000, --clients 1 to 512, --burst 1 to --clients")
		}
		seen := newTally()
		free := make(chan struct{}, *most)
		go seen.report(ctx, os.Stdout)
		ready()
		for sleep(ctx, around(time.Duration(float64(*burst) / *rate * float64(time.Second)))) {
			for range *burst {
				select {
				case free <- struct{}{}:
					go func() { call(*to, *timeout, seen); <-free }()
				default:
					seen.add("skipped")
				}
			}
		}
		return nil
	},
}

func call(to string, timeout time.Duration, seen *tally) {
	begun := time.Now()
	conn, err := net.DialTimeout("tcp", to, timeout)
	if err != nil {
		seen.took("connect-failed", time.Since(begun))
		return
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
		return
	}
	seen.took("answer", time.Since(begun))
}
