package past

// ring keeps the values of the last slots, most at the most; a slot is a second or a minute
// since the epoch. It grows as slots come.
type ring[T any] struct {
	v     []T
	first int64 // the slot of v[0] before v was full: slots follow from it
	last  int64 // the latest slot
}

// grown is how many places are made at a time.
const grown = 60

// at is the place of a slot; places between the last and this are none. nil is a slot that
// is forgotten.
func (r *ring[T]) at(slot int64, most int, none T) *T {
	if len(r.v) == 0 || slot > r.last+int64(most) { // the first, or nothing of before is left
		r.first, r.last = slot, slot-1
		r.v = r.v[:0]
	}
	for r.last < slot {
		r.last++
		if len(r.v) < most {
			if len(r.v) == cap(r.v) {
				more := make([]T, len(r.v), min(cap(r.v)+grown, most))
				copy(more, r.v)
				r.v = more
			}
			r.v = append(r.v, none)
			continue
		}
		r.v[r.place(r.last)] = none
	}
	if slot <= r.last-int64(len(r.v)) {
		return nil
	}
	return &r.v[r.place(slot)]
}

func (r *ring[T]) place(slot int64) int {
	if n := int64(len(r.v)); n > 0 {
		return int((slot - r.first) % n)
	}
	return 0
}

// each gives the slots that are kept, the oldest first.
func (r *ring[T]) each(f func(slot int64, v T)) {
	for slot := r.last - int64(len(r.v)) + 1; slot <= r.last && len(r.v) > 0; slot++ {
		f(slot, r.v[r.place(slot)])
	}
}
