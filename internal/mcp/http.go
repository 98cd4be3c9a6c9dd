package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// The headers of the transport.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "MCP-Protocol-Version"
)

const (
	mostSessions = 32
	mostStreams  = 4 // for what the server says unasked, of one session
)

// HTTP is a server's Streamable HTTP transport (modelcontextprotocol.io, revision 2025-11-25, basic/transports): a POST
// for each message, a GET for what the server says unasked, a DELETE to end a session. Who may ask is decided before.
type HTTP struct {
	server *Server
	ctx    context.Context //nolint:containedctx // of the server: calls outlive the request that began them

	mu       sync.Mutex
	sessions map[string]*remote
}

// remote is a client that speaks HTTP.
type remote struct {
	*client
	ctx     context.Context //nolint:containedctx // of the session, which requests come and go in
	end     context.CancelFunc
	used    time.Time // of HTTP.mu
	streams map[*session]bool
}

// NewHTTP serves until ctx ends.
func NewHTTP(ctx context.Context, s *Server) *HTTP {
	h := &HTTP{server: s, ctx: ctx, sessions: map[string]*remote{}}
	if s.Changed != nil {
		go h.tell()
	}
	return h
}

// tell reports changes of the resources to all who listen.
func (h *HTTP) tell() {
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-h.server.Changed:
		}
		h.mu.Lock()
		var all []*session
		for _, r := range h.sessions {
			for se := range r.streams {
				all = append(all, se)
			}
		}
		h.mu.Unlock()
		for _, se := range all {
			se.notify("notifications/resources/list_changed", nil)
		}
	}
}

// ServeHTTP handles one request.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if why := foreign(r); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return
	}
	if v := r.Header.Get(versionHeader); v != "" && !slices.Contains(versions, v) {
		http.Error(w, fmt.Sprintf("%s %q is not supported: %s are", versionHeader, v, strings.Join(versions, ", ")), http.StatusBadRequest)
		return
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r)
	case http.MethodGet:
		h.listen(w, r)
	case http.MethodDelete:
		h.remove(w, r)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "MCP over HTTP is POST, GET and DELETE", http.StatusMethodNotAllowed)
	}
}

// foreign says why a browser's page of another server may not ask; "" if it may, or none does.
func foreign(r *http.Request) string {
	from := r.Header.Get("Origin")
	if from == "" {
		return ""
	}
	if u, err := url.Parse(from); err == nil && u.Host == r.Host {
		return ""
	}
	return "a page of another server may not ask here"
}

func (h *HTTP) post(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostLine))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		http.Error(w, fmt.Sprintf("the message is longer than %d MB", mostLine>>20), http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		http.Error(w, "read the message: "+err.Error(), http.StatusBadRequest)
		return
	}
	m, wrong := parse(body)
	if wrong != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		(&session{out: &writer{w: w, failed: func() {}}}).refuse(m.ID, wrong)
		return
	}
	c, status, why := h.of(r, m.Method)
	if why != "" {
		http.Error(w, why, status)
		return
	}
	if m.isResponse() || len(m.ID) == 0 {
		(&session{client: c.client, server: h.server}).handle(c.ctx, body)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.Method == "initialize" {
		w.Header().Set(sessionHeader, h.add(c))
	}
	h.answer(w, r, c, m, body)
}

// of returns the client that sent a request, or the status and the reason why there is none.
func (h *HTTP) of(r *http.Request, method string) (*remote, int, string) {
	id := r.Header.Get(sessionHeader)
	if method == "initialize" {
		ctx, end := context.WithCancel(h.ctx)
		return &remote{client: newClient(), ctx: ctx, end: end, streams: map[*session]bool{}}, 0, ""
	}
	if id == "" {
		return nil, http.StatusBadRequest, "the request has no " + sessionHeader + ": send initialize first, and what it answers there with each request"
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.sessions[id]
	if c == nil {
		return nil, http.StatusNotFound, "no such session: send initialize again"
	}
	c.used = time.Now()
	return c, 0, ""
}

// add gives a new client its session. Of too many the one that was used least recently ends, if no request of it runs.
func (h *HTTP) add(c *remote) (id string) {
	id = rand.Text()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.sessions) >= mostSessions {
		oldest := ""
		for id, s := range h.sessions {
			if !s.busy() && (oldest == "" || s.used.Before(h.sessions[oldest].used)) {
				oldest = id
			}
		}
		if oldest != "" {
			h.sessions[oldest].end()
			delete(h.sessions, oldest)
		}
	}
	c.used = time.Now()
	h.sessions[id] = c
	return id
}

// answer handles a request and writes its answer: one JSON object, or a stream of events with the progress before it.
func (h *HTTP) answer(w http.ResponseWriter, r *http.Request, c *remote, m message, body []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a call may take minutes
	slow := m.Method == "tools/call" || m.Method == "resources/read"
	out := newReply(w, slow && accepts(r, eventStream))
	defer out.close()
	se := &session{client: c.client, server: h.server, out: &writer{w: out, failed: func() {}}}
	se.handle(c.ctx, body)
	over := make(chan struct{})
	go func() {
		se.calls.Wait()
		close(over)
	}()
	select {
	case <-over:
		return
	case <-r.Context().Done(): // who has gone may have lost the connection only, and nobody waits for long
	}
	grace := h.server.afterEOF
	if grace == 0 {
		grace = afterEOF
	}
	select {
	case <-over:
	case <-time.After(grace):
		se.cancel(string(m.ID))
		<-over
	}
}

// listen is a stream of what the server says unasked.
func (h *HTTP) listen(w http.ResponseWriter, r *http.Request) {
	if !accepts(r, eventStream) {
		http.Error(w, "the answer is a stream of events: accept "+eventStream, http.StatusNotAcceptable)
		return
	}
	c, status, why := h.of(r, "")
	if why != "" {
		http.Error(w, why, status)
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	out := newReply(w, true)
	defer out.close()
	se := &session{client: c.client, server: h.server, out: &writer{w: out, failed: func() {}}}
	h.mu.Lock()
	full := len(c.streams) >= mostStreams
	if !full {
		c.streams[se] = true
	}
	h.mu.Unlock()
	if full {
		return
	}
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(c.streams, se)
	}()
	select {
	case <-r.Context().Done():
	case <-c.ctx.Done():
	}
}

func (h *HTTP) remove(w http.ResponseWriter, r *http.Request) {
	c, status, why := h.of(r, "")
	if why != "" {
		http.Error(w, why, status)
		return
	}
	h.mu.Lock()
	delete(h.sessions, r.Header.Get(sessionHeader))
	h.mu.Unlock()
	c.end()
	w.WriteHeader(http.StatusNoContent)
}

const eventStream = "text/event-stream"

func accepts(r *http.Request, kind string) bool {
	for _, line := range r.Header.Values("Accept") {
		for one := range strings.SplitSeq(line, ",") {
			name, _, _ := strings.Cut(one, ";")
			if strings.EqualFold(strings.TrimSpace(name), kind) {
				return true
			}
		}
	}
	return false
}

// isAnswer reports whether a message is a response, and no notification.
func isAnswer(line []byte) bool {
	var m struct {
		Method string `json:"method"`
	}
	return json.Unmarshal(line, &m) == nil && m.Method == ""
}
