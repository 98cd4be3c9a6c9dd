package watch

import (
	"fmt"
	"slices"
)

// nameKey tells names apart: a stream has the same one where snag reads it and
// where its publisher's connection was seen.
func (w *Watcher) nameKey(side string, e Entry) string { return side + " " + e.Layer + " " + e.Name }

// unique makes a name that no other stream has on its side: names are labels of metrics.
// A stream has one name at all its layers.
func (w *Watcher) unique(e Entry, side string) string {
	if e.places != nil && w.layered[e.places.id] != nil {
		e.Name = w.layered[e.places.id].name
	} else {
		was := e.Name
		if w.taken(e, side) && e.URL.Host != "" {
			e.Name = Clean(e.URL.Host+"/"+was, maxName)
		}
		for n := 2; w.taken(e, side); n++ {
			e.Name = fmt.Sprintf("%s (%d)", was, n)
		}
	}
	w.names[w.nameKey(side, e)] = true
	return e.Name
}

// taken reports whether another stream has an entry's name, at any of its layers.
func (w *Watcher) taken(e Entry, side string) bool {
	if e.places == nil {
		return w.names[w.nameKey(side, e)]
	}
	return slices.ContainsFunc(e.places.names, func(layer string) bool {
		e.Layer = layer
		return w.names[w.nameKey(side, e)]
	})
}
