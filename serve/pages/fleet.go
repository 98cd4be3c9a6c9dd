package pages

import (
	"encoding/json"
	"net/http"
	"os"

	"snag/internal/web"
	"snag/report/page"
)

// mostFleet are requests for the fleet's data at a time: while the store is slow each of them waits.
const mostFleet = 64

// fleet adds the page of many hosts. Where this host has no ring, that is the page there is.
func (s *site) fleet(open *http.ServeMux) {
	if s.Fleet == nil {
		return
	}
	s.store = &asked{Fleet: *s.Fleet}
	read := func(h http.HandlerFunc, most int) http.Handler {
		return s.Access.Pages(web.ReadOnly(web.AtMost(most, h)))
	}
	open.Handle("/fleet", read(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", page.FleetPolicy()+"; frame-ancestors 'none'")
		html(w, http.StatusOK, page.Fleet())
	}, atOnce))
	open.Handle("/fleet.json", read(s.fleetState, mostFleet))
}

// ringHere reports whether this host has a ring, which its own page shows.
func (s *site) ringHere() bool {
	_, err := os.Stat(s.Ring.Dir)
	return err == nil
}

func (s *site) fleetState(w http.ResponseWriter, r *http.Request) {
	state := s.store.state(r.Context())
	if s.ringHere() {
		state.Host = s.Host
	}
	b, err := json.Marshal(state)
	if err != nil { // it is made of texts and numbers
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b) // whoever asked has gone
}
