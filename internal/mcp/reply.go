package mcp

import (
	"bytes"
	"net/http"
	"sync"
	"time"
)

// alive is how often a stream has a comment, so that what lies between does not take it for dead.
const alive = 15 * time.Second

// reply writes messages, a line each, as the answer to an HTTP request: as events, or the response alone as JSON.
type reply struct {
	mu     sync.Mutex
	w      http.ResponseWriter
	events bool
	began  bool // the header is written
	closed chan struct{}
}

func newReply(w http.ResponseWriter, events bool) *reply {
	r := &reply{w: w, events: events, closed: make(chan struct{})}
	if !events {
		return r
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w.Header().Set("Content-Type", eventStream)
	w.Header().Set("X-Accel-Buffering", "no") // of nginx before it
	w.WriteHeader(http.StatusOK)
	r.flush()
	go r.live()
	return r
}

func (r *reply) flush() { _ = http.NewResponseController(r.w).Flush() } // whoever asked may have gone

func (r *reply) live() {
	tick := time.NewTicker(alive)
	defer tick.Stop()
	for {
		select {
		case <-r.closed:
			return
		case <-tick.C:
			r.mu.Lock()
			if !r.over() {
				_, _ = r.w.Write([]byte(": \n\n")) // whoever asked may have gone
				r.flush()
			}
			r.mu.Unlock()
		}
	}
}

func (r *reply) over() bool {
	select {
	case <-r.closed:
		return true
	default:
		return false
	}
}

// Write takes one message.
func (r *reply) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over():
		return len(line), nil // nothing may be written when the handler has returned
	case r.events:
		text := append([]byte("event: message\ndata: "), bytes.TrimRight(line, "\n")...)
		if _, err := r.w.Write(append(text, "\n\n"...)); err != nil {
			return 0, err
		}
		r.flush()
		return len(line), nil
	case !isAnswer(line):
		return len(line), nil // JSON has room for the answer alone
	}
	r.w.Header().Set("Content-Type", "application/json")
	r.began = true
	if _, err := r.w.Write(line); err != nil {
		return 0, err
	}
	return len(line), nil
}

// close ends the answer. A call that was cancelled has none.
func (r *reply) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.closed)
	if !r.events && !r.began {
		r.w.WriteHeader(http.StatusNoContent)
	}
}
