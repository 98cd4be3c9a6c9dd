package layers

import (
	"sync"

	"snag/probes/streams/stream"
)

// Matcher follows one stream through its places, from the first to the last. It
// may be called from several goroutines.
type Matcher struct {
	mu     sync.Mutex
	names  []string
	places []place
	hops   []hop
	from   int64
}

// New returns a Matcher for the places called names, in the order in which the
// stream passes them.
func New(names []string) *Matcher {
	m := &Matcher{names: names, places: make([]place, len(names))}
	for i := range max(len(names)-1, 0) {
		m.hops = append(m.hops, hop{a: &m.places[i], b: &m.places[i+1]})
	}
	return m
}

// Frame takes a frame as it came at one place.
func (m *Matcher) Frame(at int, f stream.Frame) {
	if f.Kind != stream.Video || at < 0 || at >= len(m.places) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f.Arrival, f.DTS = held(f.Arrival), held(f.DTS)
	m.places[at].add(f)
}

// Times from outside are held to ±36 years, so that their differences fit.
func held(t int64) int64 { return min(max(t, -1<<60), 1<<60) }

// Sink is a place's Sink: its frames are matched and handed on to next.
func (m *Matcher) Sink(at int, next stream.Sink) stream.Sink { return &tee{next, m, at} }

type tee struct {
	stream.Sink
	m  *Matcher
	at int
}

// Apart passes on.
func (t *tee) Apart(apart bool) { stream.Apart(t.Sink, apart) }

// Missed passes on.
func (t *tee) Missed(from, to int64) { stream.Missed(t.Sink, from, to) }

// Reason passes on.
func (t *tee) Reason(text string) { stream.Reason(t.Sink, text) }

func (t *tee) Frame(f stream.Frame) {
	t.m.Frame(t.at, f)
	t.Sink.Frame(f)
}

// Tick is to be called once a second: it matches what came since and returns a Hop
// for each two neighbours, in their order. buf is used for it.
func (m *Matcher) Tick(now int64, buf []Hop) []Hop {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.from == 0 {
		m.from = now
	}
	for i := range m.hops {
		h := m.hops[i].tick()
		h.T, h.From, h.To = m.from, m.names[i], m.names[i+1]
		buf = append(buf, h)
	}
	m.from = now
	return buf
}
