package livepage

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"

	"snag/internal/web"
	"snag/probes/streams/watch"
	"snag/report/page"
)

// atOnce is how many requests are answered at a time.
const atOnce = 8

// Server serves the page of one watch.
type Server struct {
	listener net.Listener
	at       web.Address
}

// Listen opens the address.
func Listen(at web.Address) (*Server, error) {
	l, err := at.Listen("the page")
	if err != nil {
		return nil, err
	}
	return &Server{l, at}, nil
}

// Note says where the page is, and who can read it.
func (s *Server) Note() string {
	text := "--page: " + s.at.URL("http")
	if !s.at.Loopback() {
		text += ": anybody who reaches this address can read it"
	}
	return text
}

// Serve serves until ctx ends.
func (s *Server) Serve(ctx context.Context, w *watch.Watcher, note func(string)) {
	h := web.Guarded(s.at, page.LivePolicy(), web.ReadOnly(web.AtMost(atOnce, pages(&watched{w: w}))))
	if err := web.Serve(ctx, s.listener, nil, h); err != nil {
		note(fmt.Sprintf("--page: %v", err))
	}
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
