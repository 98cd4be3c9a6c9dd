package actor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var httpBackend = Actor{
	Name:  "http-backend",
	About: "answers HTTP after a time; SIGUSR2 switches it between well and slow, silent, refusing or failing",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port")
		wait := f.Duration("wait", 0, "an answer takes from half to one and a half of this")
		size := f.Int("size", 100, "bytes of an answer")
		then := f.String("then", "slow", "what SIGUSR2 switches on: slow, silent, refuse, errors, missing (404)")
		slow := f.Duration("slow", time.Second, "what an answer takes while it is slow")
		store := f.String("store", "", "each request leaves a file here, and one that can't is answered with 500")
		keep := f.Int("keep", 100, "files are kept there; then they are written again")
		orders := f.Float64("orders", 1, "of the requests leave a file")
		status := f.Int("status", http.StatusServiceUnavailable, "status of an error")
		late := f.Duration("late", 0, "what an error takes")
		share := f.Float64("share", 1, "of the requests meet what was switched on")
		if err := parse(); err != nil {
			return err
		}
		u := &upstream{wait: *wait, slow: *slow, late: *late, status: *status, then: *then, share: *share, store: *store, keep: int64(*keep), orders: *orders, body: strings.Repeat("x", *size), conns: map[net.Conn]bool{}}
		l, err := net.Listen("tcp4", *listen)
		if err != nil {
			return err
		}
		ready()
		switches := make(chan os.Signal, 8)
		signal.Notify(switches, syscall.SIGUSR2)
		go u.serve(l)
		for {
			select {
			case <-ctx.Done():
				return l.Close()
			case <-switches:
			}
			sick := !u.sick.Load()
			u.sick.Store(sick)
			switch {
			case u.then != "refuse":
			case sick:
				l.Close()
				u.hangUp()
			default:
				if l, err = net.Listen("tcp4", *listen); err != nil {
					return err
				}
				go u.serve(l)
			}
		}
	},
}

type upstream struct {
	wait, slow time.Duration
	late       time.Duration
	status     int
	then, body string
	store      string
	keep       int64
	stored     atomic.Int64
	orders     float64
	share      float64
	sick       atomic.Bool
	mu         sync.Mutex
	conns      map[net.Conn]bool
}

// serve answers until the listener is closed.
func (u *upstream) serve(l net.Listener) {
	s := &http.Server{Handler: u, ReadHeaderTimeout: time.Minute, ConnState: func(c net.Conn, s http.ConnState) {
		u.mu.Lock()
		defer u.mu.Unlock()
		switch s {
		case http.StateNew:
			u.conns[c] = true
		case http.StateClosed, http.StateHijacked:
			delete(u.conns, c)
		}
	}}
	if err := s.Serve(l); err != nil && !errors.Is(err, net.ErrClosed) {
		fmt.Fprintln(os.Stderr, err)
	}
}

func (u *upstream) hangUp() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for c := range u.conns {
		c.Close()
	}
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	wait := u.wait
	if u.sick.Load() && rand.Float64() < u.share { //nolint:gosec // who is hit needs no secret
		switch u.then {
		case "slow":
			wait = u.slow
		case "silent":
			<-r.Context().Done()
			return
		case "missing":
			http.NotFound(w, r)
			return
		case "errors":
			sleep(r.Context(), u.late)
			http.Error(w, "out of order", u.status)
			return
		}
	}
	wait = time.Duration(float64(wait) * (0.5 + rand.Float64())) //nolint:gosec // how long it takes needs no secret
	select {
	case <-r.Context().Done():
		return
	case <-time.After(wait):
	}
	if u.store != "" && rand.Float64() < u.orders { //nolint:gosec // which one is an order needs no secret
		name := filepath.Join(u.store, fmt.Sprintf("order-%02d", u.stored.Add(1)%u.keep))
		if err := os.WriteFile(name, []byte(u.body), 0o600); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(u.body)))
	fmt.Fprint(w, u.body)
}
