package actor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// A request of two writes and its answer: small enough that none fills a segment.
const (
	headSize  = 40
	bodySize  = 120
	replySize = 60
)

// A two-write client sends a request as a header and a body, a write each. Without TCP_NODELAY the body waits until
// the header is acknowledged (RFC 896), and the server has no reason to acknowledge it before
// its timer fires, since the answer needs the body (RFC 1122, 4.2.3.2).
var twoWriteClient = Actor{
	Name:  "two-write-client",
	About: "sends requests of two small writes on one connection, prints how long the answers took",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "server, address:port")
		nodelay := f.Bool("nodelay", false, "set TCP_NODELAY")
		whole := f.Bool("whole", false, "send a request by one write")
		every := f.Duration("every", 40*time.Millisecond, "time from one request to the next, at least 200µs")
		window := f.Int("window", 1, "requests sent without their answers, at most 256; 1 waits for each")
		if err := parse(); err != nil {
			return err
		}
		if *every < 200*time.Microsecond || *window < 1 || *window > 256 {
			return errors.New("--every at least 200µs, --window 1 to 256")
		}
		conn, err := net.Dial("tcp", *to)
		if err != nil {
			return fmt.Errorf("connect to %s: %w", *to, err)
		}
		defer conn.Close()
		if err := conn.(*net.TCPConn).SetNoDelay(*nodelay); err != nil { // Go sets it unasked
			return fmt.Errorf("set TCP_NODELAY: %w", err)
		}
		seen := newTally()
		go seen.report(ctx, os.Stdout)
		ready()
		sent := make(chan time.Time, *window)
		free := make(chan struct{}, *window)
		failed := make(chan error, 1)
		go func() {
			reply := make([]byte, replySize)
			for {
				if _, err := io.ReadFull(conn, reply); err != nil {
					failed <- fmt.Errorf("read the answer: %w", err)
					return
				}
				seen.took("request", time.Since(<-sent))
				<-free
			}
		}()
		head, body := make([]byte, headSize), make([]byte, bodySize)
		if *whole {
			head, body = make([]byte, headSize+bodySize), nil
		}
		for tick := time.NewTicker(*every); ; {
			select {
			case <-ctx.Done():
				return nil
			case err := <-failed:
				return err
			case <-tick.C:
			}
			select {
			case <-ctx.Done():
				return nil
			case free <- struct{}{}:
			case err := <-failed:
				return err
			}
			sent <- time.Now()
			if _, err = conn.Write(head); err == nil && len(body) > 0 {
				_, err = conn.Write(body)
			}
			if err != nil {
				return fmt.Errorf("send a request: %w", err)
			}
		}
	},
}

var twoWriteServer = Actor{
	Name:  "two-write-server",
	About: "answers each whole request of a two-write-client",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		at := f.String("listen", "", "address:port")
		think := f.Duration("think", 0, "time asleep before each answer")
		if err := parse(); err != nil {
			return err
		}
		return serve(ctx, *at, func(c net.Conn) { answerRequests(ctx, c, *think) })
	},
}

func answerRequests(ctx context.Context, conn net.Conn, think time.Duration) {
	request, reply := make([]byte, headSize+bodySize), make([]byte, replySize)
	for {
		if _, err := io.ReadFull(conn, request); err != nil {
			return
		}
		if !sleep(ctx, think) {
			return
		}
		if _, err := conn.Write(reply); err != nil {
			return
		}
	}
}
