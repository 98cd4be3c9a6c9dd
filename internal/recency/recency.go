// Package recency keeps entries in the order of their last use, so that whoever is
// unused for longest can be dropped. The entries carry their links themselves: nothing
// is allocated for them.
package recency

// Links are an entry's neighbours.
type Links[T any] struct{ before, after *T }

// Entry is what has links.
type Entry[T any] interface {
	*T
	Recency() *Links[T]
}

// List is entries, the one that was unused for longest first. An entry is in one list at
// the most.
type List[T any, E Entry[T]] struct{ first, last *T }

// Oldest is the entry that was unused for longest; nil: there is none.
func (l *List[T, E]) Oldest() *T { return l.first }

// Newest is the one that was used last; nil: there is none.
func (l *List[T, E]) Newest() *T { return l.last }

// Older is the one that was used before e; nil: there is none.
func (l *List[T, E]) Older(e *T) *T { return E(e).Recency().before }

// Add puts in an entry that is in no list.
func (l *List[T, E]) Add(e *T) {
	*E(e).Recency() = Links[T]{before: l.last}
	if l.last != nil {
		E(l.last).Recency().after = e
	} else {
		l.first = e
	}
	l.last = e
}

// Remove takes out an entry of this list.
func (l *List[T, E]) Remove(e *T) {
	at := E(e).Recency()
	if at.before != nil {
		E(at.before).Recency().after = at.after
	} else {
		l.first = at.after
	}
	if at.after != nil {
		E(at.after).Recency().before = at.before
	} else {
		l.last = at.before
	}
	*at = Links[T]{}
}

// Use reports that an entry of this list was used.
func (l *List[T, E]) Use(e *T) {
	if l.last != e {
		l.Remove(e)
		l.Add(e)
	}
}
