// Package pages is what snag serve answers over HTTP: who is affected now, the incidents that a recorder found and the
// page of each, and the tools for agents (MCP). It is read-only.
package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"snag/internal/web"
	"snag/recorder"
	"snag/report/page"
	"snag/serve/agent"
)

// Options are what is served, and who may read it.
type Options struct {
	At     web.Address
	Host   string // the name of this host
	Ring   recorder.Ring
	Run    agent.Run
	Access *Access
	MCP    http.Handler
	Fleet  *Fleet // nil: there is no page of many hosts
	// NewFolder makes a folder that nobody else can read, for a recording that is asked for.
	NewFolder func() (string, error)
}

// Bounds.
const (
	atOnce    = 16 // requests for pages at a time
	mostPages = 2  // pages and recordings that are made at a time, each of which may take a CPU
	// mostWaiting requests for recordings are served at a time, most of which wait for their turn.
	mostWaiting = 8
	makeTime    = 2 * time.Minute // for a page
	keptPages   = 8
	fresh       = time.Second // how old a state may be that another reader gets too
	mostGroups  = 200
)

// site is what the handlers share.
type site struct {
	Options
	making chan struct{}
	store  *asked // nil without a fleet

	mu    sync.Mutex
	last  []byte
	taken time.Time
	made  map[pageKey][]byte
	order []pageKey // of made, oldest first
}

// pageKey is one page of an incident: another judgement makes another.
type pageKey struct{ id, judgements int }

// Handler answers.
func Handler(o Options) http.Handler {
	s := &site{Options: o, making: make(chan struct{}, mostPages), made: map[pageKey][]byte{}}
	read := http.NewServeMux()
	read.HandleFunc("/{$}", s.board)
	read.HandleFunc("/state.json", s.state)
	read.HandleFunc("/incident/{id}", s.incident)
	read.HandleFunc("/incident/at/{second}", s.incidentAt)
	open := http.NewServeMux()
	open.Handle("/", o.Access.Pages(web.ReadOnly(web.AtMost(atOnce, read))))
	s.fleet(open)
	open.Handle("/recording", o.Access.Program(web.ReadOnly(web.AtMost(mostWaiting, http.HandlerFunc(s.recording)))))
	open.Handle("/mcp", o.Access.Program(o.MCP))
	open.HandleFunc("/login", o.Access.Login)
	open.HandleFunc("/logout", o.Access.Logout)
	return web.Guarded(o.At, page.BoardPolicy(), open)
}

func (s *site) board(w http.ResponseWriter, r *http.Request) {
	if s.Fleet != nil && !s.ringHere() {
		http.Redirect(w, r, "/fleet", http.StatusSeeOther)
		return
	}
	html(w, http.StatusOK, page.Board("snag on "+s.Host))
}

func html(w http.ResponseWriter, status int, b []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b) // whoever asked has gone
}

// state is what the page asks for again and again.
func (s *site) state(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	if time.Since(s.taken) > fresh {
		s.last, s.taken = nil, time.Now()
		state := stateOf(s.Ring, s.Host, s.taken)
		state.Fleet = s.Fleet != nil
		if b, err := json.Marshal(state); err == nil { // it is made of texts and numbers
			s.last = b
		}
	}
	b := s.last
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b) // whoever asked has gone
}

// incident is the page of one incident, as snag incidents show N --html writes it.
func (s *site) incident(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || id < 1 {
		http.Error(w, "an incident is a number, as /incident/7", http.StatusNotFound)
		return
	}
	i, err := s.Ring.Incident(id)
	if err != nil {
		http.Error(w, fmt.Sprintf("there is no incident %d, or it was removed to keep the ring's size: %v", id, errors.Unwrap(err)), http.StatusNotFound)
		return
	}
	longer(w, 2*makeTime) // it may wait in line
	b, err := s.pageOf(r.Context(), pageKey{id, i.Judgements})
	if err != nil {
		http.Error(w, fmt.Sprintf("make the page of incident %d: %v; try: snag incidents show %d", id, err, id), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", page.FilePolicy()+"; frame-ancestors 'none'")
	html(w, http.StatusOK, b)
}

// incidentAt leads to the incident that began in a second, as the page of the fleet knows it.
func (s *site) incidentAt(w http.ResponseWriter, r *http.Request) {
	second, err := strconv.ParseInt(r.PathValue("second"), 10, 64)
	if err != nil {
		http.Error(w, "an incident began at a second since the epoch, as /incident/at/1796037414", http.StatusNotFound)
		return
	}
	all, err := s.Ring.Incidents() // those that can be read
	n := slices.IndexFunc(all, func(i recorder.Incident) bool { return i.Start.Unix() == second })
	if n < 0 {
		text := fmt.Sprintf("no incident began here at %s, or it was removed to keep the ring's size", time.Unix(second, 0).UTC().Format(time.RFC3339))
		if err != nil {
			text += ": " + err.Error()
		}
		http.Error(w, text, http.StatusNotFound)
		return
	}
	http.Redirect(w, r, fmt.Sprintf("/incident/%d", all[n].ID), http.StatusSeeOther)
}

func (s *site) pageOf(ctx context.Context, key pageKey) ([]byte, error) {
	if b := s.kept(key); b != nil {
		return b, nil
	}
	select {
	case s.making <- struct{}{}:
		defer func() { <-s.making }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if b := s.kept(key); b != nil { // another reader had it made
		return b, nil
	}
	ctx, cancel := context.WithTimeout(ctx, makeTime)
	defer cancel()
	out, err := s.Run(ctx, agent.Command{
		Name: "incidents show", Flags: []string{"--html=-", "--ring=" + s.Ring.Dir}, Args: []string{strconv.Itoa(key.id)},
	})
	switch {
	case err != nil:
		return nil, err
	case !bytes.HasPrefix(out.JSON, []byte("<!doctype html>")):
		return nil, errors.New("snag incidents show wrote no page")
	}
	s.keep(key, out.JSON)
	return out.JSON, nil
}

func (s *site) kept(key pageKey) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made[key]
}

func (s *site) keep(key pageKey, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made[key] == nil {
		s.order = append(s.order, key)
	}
	s.made[key] = b
	if len(s.order) > keptPages {
		delete(s.made, s.order[0])
		s.order = s.order[1:]
	}
}
