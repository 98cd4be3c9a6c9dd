package probe

import "sync/atomic"

// Rotation counts the pieces of a ring (snag record). A piece must be readable without the one before, so
// probes that write a row only on change check once a second whether a new piece began, and then write
// all rows. nil: a single recording. Safe for concurrent use.
type Rotation struct{ n atomic.Uint64 }

// Rotate begins the next piece.
func (r *Rotation) Rotate() { r.n.Add(1) }

// Next reports whether a piece began since known, and updates known.
func (r *Rotation) Next(known *uint64) bool {
	if r == nil {
		return false
	}
	now := r.n.Load()
	began := now != *known
	*known = now
	return began
}
