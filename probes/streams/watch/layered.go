package watch

import (
	"fmt"
	"slices"

	"snag/probes/streams/layers"
	"snag/probes/streams/stream"
)

// How much of a layered stream is remembered: what is traced back is of the last
// two minutes.
const (
	maxHops   = 120 // seconds, for each hop
	maxHurts  = 64
	settledIn = int64(4e9) // ns: a hurt at one place shows at the next by then
)

// layered is one stream that is watched at several places.
type layered struct {
	name    string
	names   []string // of the places, in order
	matcher *layers.Matcher
	hops    []layers.Hop
	hurts   []layers.Hurt
	second  int64 // when it was last matched
	told    []string
	verdict string // the last finding
	at      int64  // when it was found
	read    int    // how many of the places are
}

// joinLayers finds the layered stream that an entry is a place of, by the name that it
// goes by, and which place it is; nil for none. The first entry makes it.
func (w *Watcher) joinLayers(e Entry) (*layered, int) {
	if e.places == nil {
		return nil, 0
	}
	l := w.layered[e.places.id]
	if l == nil {
		l = &layered{name: e.Name, names: e.places.names, matcher: layers.New(e.places.names)}
		w.layered[e.places.id] = l
	}
	l.read++
	return l, slices.Index(l.names, e.Layer)
}

// leaveLayers forgets a layered stream with the last of its places.
func (w *Watcher) leaveLayers(s *one) {
	if s.layers == nil {
		return
	}
	if s.layers.read--; s.layers.read == 0 {
		delete(w.layered, s.entry.places.id)
	}
}

// matched is a stream's sink with the matching before it.
func (s *one) matched(next stream.Sink) stream.Sink {
	if s.layers != nil {
		return s.layers.matcher.Sink(s.place, next)
	}
	return next
}

// noteHurts keeps what befell a layered stream at one place.
func (w *Watcher) noteHurts(s *one) {
	l := s.layers
	if l == nil {
		return
	}
	for _, e := range w.row {
		if h, ok := layers.HurtBy(s.place, e); ok {
			if len(l.hurts) == maxHurts {
				l.hurts = slices.Delete(l.hurts, 0, 1)
			}
			l.hurts = append(l.hurts, h)
		}
	}
}

// matchLayers matches what came in the last second, writes it, and says where a
// hurt was first seen once that is settled. It returns what is to be told.
func (w *Watcher) matchLayers(now int64) []string {
	var out []string
	for _, l := range w.layered {
		if now-l.second < int64(1e9) {
			continue
		}
		l.second = now
		before := len(l.hops)
		l.hops = l.matcher.Tick(now, l.hops)
		for _, h := range l.hops[before:] {
			if row, ok := h.Row(l.name, w.o.Anchor); ok && w.o.Sink != nil {
				w.o.Sink.Append(row)
			}
			if w.record == nil {
				continue
			}
			if row, ok := h.Row(l.name, w.record.anchor); ok {
				w.record.sink.Append(row)
			}
		}
		if over := len(l.hops) - maxHops*(len(l.names)-1); over > 0 {
			l.hops = slices.Delete(l.hops, 0, over)
		}
		out = append(out, w.judgeLayers(l, now)...)
	}
	return out
}

func (w *Watcher) judgeLayers(l *layered, now int64) []string {
	var out []string
	for _, f := range layers.Judge(l.names, l.hurts, l.hops, func(place int, from, _ int64) bool { return w.watchedWell(l, place, from) }) {
		if now-f.Start < settledIn || now-f.Start > 60e9 {
			continue
		}
		id := fmt.Sprint(f.Kind, f.At, f.Start)
		if slices.Contains(l.told, id) {
			continue
		}
		if len(l.told) == maxHurts {
			l.told = slices.Delete(l.told, 0, 1)
		}
		l.told = append(l.told, id)
		l.verdict, l.at = f.Where+": "+f.Why, now
		out = append(out, fmt.Sprintf("%s: what hurt it at %s from %s began %s", l.name, l.names[f.At], w.time(f.Start).Wall().Format("15:04:05"), l.verdict))
	}
	return out
}

// watchedWell reports whether a place has been read since before from, and the
// watch was not late meanwhile.
func (w *Watcher) watchedWell(l *layered, place int, from int64) bool {
	for _, s := range w.streams {
		if s.layers == l && s.place == place {
			at := s.link0()
			return at.phase == reading && at.since < from && !s.second.Doubt
		}
	}
	return false
}

// layersSay is what the layers told of a stream lately; "" for nothing.
func (s *one) layersSay(onset int64) string {
	if l := s.layers; l != nil && l.at >= onset {
		return l.verdict
	}
	return ""
}

// Matched tells of each hop between layers by what its frames are matched; of more
// than one stream, with the stream's name.
func (w *Watcher) Matched() map[string]layers.How {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]layers.How{}
	for _, l := range w.layered {
		of := ""
		if len(w.layered) > 1 {
			of = l.name + ": "
		}
		for _, h := range l.hops {
			out[of+h.From+" to "+h.To] = h.How
		}
	}
	return out
}
