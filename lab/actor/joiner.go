package actor

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"snag/lab/clientlog"
	"snag/lab/rtmp"
)

var joiner = Actor{
	Name:  "joiner",
	About: "viewers who come to a stream of RTMP or HTTP, stay for a moment and go: logs how long each waits for its first message",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "server, address:port")
		app := f.String("app", "live", "application of RTMP; empty: the stream is a path of HTTP")
		stream := f.String("stream", "", "stream")
		every := f.Duration("every", time.Second, "a viewer comes this often")
		stay := f.Duration("stay", time.Second, "how long it stays")
		timeout := f.Duration("timeout", 5*time.Second, "gives up after this")
		path := f.String("log", "", "file for the client's log")
		if err := parse(); err != nil {
			return err
		}
		w, err := clientlog.Create(*path)
		if err != nil {
			return err
		}
		defer w.Close()
		ready()
		for next := time.Now(); sleep(ctx, time.Until(next)); next = next.Add(*every) {
			go func(due time.Time) {
				id := w.Begin(due)
				conn, err := join(ctx, *to, *app, *stream, due.Add(*timeout))
				w.End(id, outcome(err))
				if err == nil {
					sleep(ctx, *stay)
				}
				hangUp(conn)
			}(next)
		}
		return nil
	},
}

// join connects and returns when the stream's second message has come: the first may
// be what the server itself says of the stream.
func join(ctx context.Context, to, app, stream string, deadline time.Time) (net.Conn, error) {
	d := net.Dialer{Deadline: deadline}
	conn, err := d.DialContext(ctx, "tcp4", to)
	if err != nil {
		if t := net.Error(nil); errors.As(err, &t) && t.Timeout() {
			err = os.ErrDeadlineExceeded
		}
		return nil, err
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return conn, err
	}
	if app == "" {
		if _, err := fmt.Fprintf(conn, "GET /%s HTTP/1.0\r\nHost: %s\r\n\r\n", stream, to); err != nil {
			return conn, err
		}
		in := bufio.NewReader(conn)
		answer, err := http.ReadResponse(in, nil)
		if err == nil && answer.StatusCode != http.StatusOK {
			err = errors.New(answer.Status)
		}
		if err == nil {
			_, err = io.CopyN(io.Discard, answer.Body, 400)
		}
		return conn, err
	}
	p, err := rtmp.Handshake(conn)
	if err == nil {
		err = p.Play(to, app, stream)
	}
	for i := 0; i < 2 && err == nil; i++ {
		err = p.Watch()
	}
	return conn, err
}
