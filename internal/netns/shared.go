package netns

import (
	"slices"
	"sync"
	"time"
)

// shareFor is how long a search is good for another one who asks.
const shareFor = 5 * time.Second

// Shared has those who search the same host again and again share one search: each reads a link of
// every process. A nil one shares nothing.
type Shared struct {
	Only bool // all are given the own namespace alone, and the others are not looked at

	mu    sync.Mutex
	found Found
	at    time.Time
}

// List is List, or what it found a moment ago. fresh asks for a search of its own: it is known
// that something has changed.
func (s *Shared) List(proc string, nameDirs []string, own uint64, fresh bool) (Found, error) {
	if s == nil {
		return List(proc, nameDirs, own)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if began := time.Now(); fresh || s.at.IsZero() || began.Sub(s.at) >= shareFor {
		found, err := List(proc, nameDirs, own)
		if err != nil {
			return Found{}, err
		}
		if s.Only {
			found = Found{All: slices.DeleteFunc(found.All, func(n Namespace) bool { return !n.Own })}
		}
		s.found, s.at = found, began
	}
	return Found{All: slices.Clone(s.found.All), Hidden: s.found.Hidden}, nil
}
