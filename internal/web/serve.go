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

// Serve answers until ctx ends. A request has 10 s to come and its answer a minute to leave; a handler whose answer
// takes longer says so with http.ResponseController. config is nil without TLS.
func Serve(ctx context.Context, l net.Listener, config *tls.Config, h http.Handler) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		// Whoever breaks off a handshake would fill the journal.
		ErrorLog: log.New(nowhere{}, "", 0),
	}
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

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
