package recorder

import (
	"maps"
	"sync"
	"time"

	"snag/recording"
)

// Health publishes the state of a running recorder, for metrics. The zero value is a recorder that has
// not started. Safe for concurrent use.
type Health struct {
	mu  sync.Mutex
	now Status
}

// Status is the state of a recorder at one moment.
type Status struct {
	Started    time.Time // when the recorder was started
	Recording  bool      // false: paused because the disk is full
	Incident   Incident  // the current one; ID 0: none
	Incidents  int       // since the recorder started
	Judgements int
	Known      []string  // streams whose incident ended while they were still wrong
	Size       int64     // of all pieces, bytes
	Oldest     time.Time // start of the oldest piece
	// Probes is the coverage of each probe since the recorder started.
	Probes map[string]recording.Coverage
}

// Now returns the current status.
func (h *Health) Now() Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now
	now.Probes = maps.Clone(now.Probes)
	return now
}

// set changes the status. A nil Health ignores it.
func (h *Health) set(change func(*Status)) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	change(&h.now)
}
