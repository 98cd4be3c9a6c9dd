package web

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"time"
)

// timeouts of a connection.
type timeouts struct{ header, request, answer, idle time.Duration }

var usual = timeouts{header: 5 * time.Second, request: 10 * time.Second, answer: time.Minute, idle: time.Minute}

// Serve answers until ctx ends. A request has 10 s to come and its answer a minute to leave; a handler whose answer
// takes longer calls Takes. config is nil without TLS.
func Serve(ctx context.Context, l net.Listener, config *tls.Config, h http.Handler) error {
	server := newServer(h, usual)
	if config != nil {
		l = tls.NewListener(l, config)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(ending) != nil {
			server.Close() // who is still connected is cut off
		}
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
		return err
	}
	<-done
	return nil
}

func newServer(h http.Handler, t timeouts) *http.Server {
	return &http.Server{
		Handler: patient(h), ReadHeaderTimeout: t.header, ReadTimeout: t.request,
		WriteTimeout: t.answer, IdleTimeout: t.idle, MaxHeaderBytes: 16 << 10,
		// Whoever breaks off a handshake would fill the journal.
		ErrorLog: log.New(nowhere{}, "", 0),
	}
}

// patient lifts the bound on reading from a request that has come whole: net/http reads on while the handler runs, to
// see whether whoever asked has gone, and takes the bound for that: after 10 s the request's context would end.
func patient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // a connection has deadlines
		}
		next.ServeHTTP(w, r)
	})
}

// Takes gives the rest of a request that long, from now on: for a handler that works longer than Serve gives it. 0 is as
// long as it takes. It is called when the request's body was read.
func Takes(w http.ResponseWriter, d time.Duration) {
	var end time.Time
	if d > 0 {
		end = time.Now().Add(d)
	}
	c := http.NewResponseController(w)
	_ = errors.Join(c.SetReadDeadline(time.Time{}), c.SetWriteDeadline(end)) // a connection has deadlines, a test's recorder none
}

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
