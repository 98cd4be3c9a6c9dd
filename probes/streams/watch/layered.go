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
}

// SetLayers watches one stream at the places of entries, in their order, and
// matches its frames from one to the next.
func (w *Watcher) SetLayers(entries []Entry) {
	if len(entries) == 0 {
		return
	}
	l := &layered{name: entries[0].Name}
	for _, e := range entries {
		l.names = append(l.names, e.Layer)
	}
	l.matcher = layers.New(l.names)
	w.mu.Lock()
	w.layered = append(w.layered, l)
	w.mu.Unlock()
	w.Set("--layers", entries)
}

// ofLayers finds a layered stream and the place of an entry in it; nil for none.
func (w *Watcher) ofLayers(e Entry) (*layered, int) {
	for _, l := range w.layered {
		if at := slices.Index(l.names, e.Layer); e.Layer != "" && at >= 0 {
			return l, at
		}
	}
	return nil, 0
}

// layeredSink is a stream's sink with the matching before it.
func (w *Watcher) layeredSink(e Entry, next stream.Sink) stream.Sink {
	if l, at := w.ofLayers(e); l != nil {
		return l.matcher.Sink(at, next)
	}
	return next
}

// noteHurts keeps what befell a layered stream at one place.
func (w *Watcher) noteHurts(s *one) {
	l, at := w.ofLayers(s.entry)
	if l == nil {
		return
	}
	for _, e := range w.row {
		if h, ok := layers.HurtBy(at, e); ok {
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

// watchedWell tells whether a place has been read since before from, and the
// watch was not late meanwhile.
func (w *Watcher) watchedWell(l *layered, place int, from int64) bool {
	for _, s := range w.streams {
		if of, at := w.ofLayers(s.entry); of == l && at == place {
			at := s.link0()
			return at.phase == reading && at.since < from && !s.second.Doubt
		}
	}
	return false
}

// layersSay is what the layers told of a stream lately; "" for nothing.
func (w *Watcher) layersSay(e Entry, onset int64) string {
	if l, _ := w.ofLayers(e); l != nil && l.at >= onset {
		return l.verdict
	}
	return ""
}

// Matched tells of each hop between layers by what its frames are matched.
func (w *Watcher) Matched() map[string]layers.How {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]layers.How{}
	for _, l := range w.layered {
		for _, h := range l.hops {
			out[h.From+" to "+h.To] = h.How
		}
	}
	return out
}
