package livepage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"snag/probes/streams/watch"
	"snag/report/page"
)

// Server serves the page of one watch.
type Server struct {
	listener net.Listener
	at       Address
}

// Listen opens the address.
func Listen(at Address) (*Server, error) {
	l, err := net.Listen("tcp", at.String())
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("serve the page at %s: another program has this port: choose another one (ss -ltnp names that program)", at)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("serve the page at %s: this host has no such address: write :%s for this host alone", at, at.port)
	case err != nil:
		return nil, fmt.Errorf("serve the page at %s: %w: name an address of this host, or none", watch.Clean(at.String(), 80), err)
	}
	return &Server{l, at}, nil
}

// Note says where the page is, and who can read it.
func (s *Server) Note() string {
	text := "--page: " + s.at.url()
	if !s.at.loopback() {
		text += ": anybody who reaches this address can read it"
	}
	return text
}

// Serve serves until ctx ends.
func (s *Server) Serve(ctx context.Context, w *watch.Watcher, note func(string)) {
	server := &http.Server{
		Handler: guarded(s.at, pages(&watched{w: w})), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
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
	if err := server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
		note(fmt.Sprintf("--page: %v", err))
		return
	}
	<-done
}

// mostCourses are given at a time: a stream's places, or two streams.
const mostCourses = 10

// pages answers: the page, all streams, and the courses of some.
func pages(data *watched) http.Handler {
	html := page.Live("snag watch")
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(html) // whoever asked has gone
	})
	mux.HandleFunc("/streams.json", func(w http.ResponseWriter, _ *http.Request) { answer(w, data.streams()) })
	mux.HandleFunc("/courses.json", func(w http.ResponseWriter, r *http.Request) {
		ids := r.URL.Query()["id"]
		answer(w, data.courses(ids[:min(len(ids), mostCourses)]))
	})
	return mux
}

func answer(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "write the figures: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b) // whoever asked has gone
}
