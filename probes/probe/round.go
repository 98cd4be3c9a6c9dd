package probe

import "sync/atomic"

// Round counts how often what stands is to be written anew: a ring's next piece has begun, and is to
// be read without the one before (snag record). Probes that write a row only where something changed
// ask for it once a second. nil is a recording of one piece. Safe for concurrent use.
type Round struct{ n atomic.Uint64 }

// Begin begins the next.
func (r *Round) Begin() { r.n.Add(1) }

// Next tells whether one has begun since the one that is known.
func (r *Round) Next(known *uint64) bool {
	if r == nil {
		return false
	}
	now := r.n.Load()
	began := now != *known
	*known = now
	return began
}
