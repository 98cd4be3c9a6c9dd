package gb28181

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"time"

	"snag/probes/streams/stream"
)

// linger is how long a peer is kept that nobody uses: a catalogue is asked for again
// each 10 s.
const linger = 30 * time.Second

// pool are the peers in use: one registration serves all streams of a platform.
type pool struct {
	mu    sync.Mutex
	of    map[string]*shared
	users map[string]*url.Userinfo // by address: those of a catalogue serve its cameras
}

// peers are all of this process.
var peers = pool{of: map[string]*shared{}, users: map[string]*url.Userinfo{}}

type shared struct {
	key   string
	ready chan struct{} // closed when peer or err is set
	peer  *peer
	err   error
	uses  int
	idle  *time.Timer
}

func key(a Address, netns string) string {
	return fmt.Sprintf("%s %s %s %s %t %t %s", a.Host, a.Port, a.Device, a.ID, a.TCP, a.Register, netns)
}

// acquire gives the peer at an address, connected and registered, and what gives it
// back.
func (s *pool) acquire(ctx context.Context, a Address, o stream.Options) (*peer, func(context.Context), error) {
	k := key(a, o.Netns)
	s.mu.Lock()
	a.User = s.userOf(a)
	x := s.of[k]
	if x == nil {
		x = &shared{key: k, ready: make(chan struct{})}
		s.of[k] = x
		go s.open(x, a, o)
	}
	x.uses++
	if x.idle != nil {
		x.idle.Stop()
	}
	s.mu.Unlock()
	release := func(ctx context.Context) { s.release(ctx, x) }
	select {
	case <-x.ready:
	case <-ctx.Done():
		release(ctx)
		return nil, nil, ctx.Err()
	}
	if x.err != nil {
		release(ctx)
		return nil, nil, x.err
	}
	if a.User != nil {
		x.peer.knows(a.User)
	}
	return x.peer, release, nil
}

// userOf is who asks at an address: who the URL names, else who another URL did. mu is
// held.
func (s *pool) userOf(a Address) *url.Userinfo {
	k := key(a, "")
	if a.User != nil {
		s.users[k] = a.User
	}
	return s.users[k]
}

// open is not ended with the one who asked first: others wait for it too.
func (s *pool) open(x *shared, a Address, o stream.Options) {
	x.peer, x.err = open(context.Background(), a, o)
	close(x.ready)
	if x.err != nil {
		s.remove(x)
		return
	}
	<-x.peer.gone
	s.remove(x)
}

func (s *pool) remove(x *shared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[x.key] == x {
		delete(s.of, x.key)
	}
}

// release gives a peer back. Where the user is ending snag, the last one ends the
// registration; else it is kept for a while.
func (s *pool) release(ctx context.Context, x *shared) {
	s.mu.Lock()
	x.uses--
	last := x.uses == 0
	if last && ctx.Err() == nil {
		x.idle = time.AfterFunc(linger, func() { s.leave(x) })
	}
	s.mu.Unlock()
	if last && ctx.Err() != nil {
		s.leave(x)
	}
}

// leave ends a registration that nobody uses.
func (s *pool) leave(x *shared) {
	s.mu.Lock()
	used := x.uses > 0 || s.of[x.key] != x
	if !used {
		delete(s.of, x.key)
	}
	s.mu.Unlock()
	if used {
		return
	}
	<-x.ready
	if x.err == nil {
		x.peer.leave()
	}
}

// Leave ends what is kept of an address that nobody uses any more.
func Leave(a Address, netns string) {
	peers.mu.Lock()
	x := peers.of[key(a, netns)]
	peers.mu.Unlock()
	if x != nil {
		peers.leave(x)
	}
}
