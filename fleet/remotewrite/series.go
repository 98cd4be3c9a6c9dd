package remotewrite

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"

	"snag/recording"
)

// table has the last value of each series since it was last taken. It implements recording.Sink, and never waits for
// what is sent.
type table struct {
	most int

	mu      sync.Mutex
	seed    maphash.Seed
	series  map[uint64]*series
	left    map[string]int // by name: series that found no room since the last take
	parties parties
	streams streams
	now     recording.Time // of the newest value
}

type series struct {
	name   string
	labels recording.Labels
	value  float64
	at     recording.Time
	fresh  bool // since the last take
	missed int  // takes without a value
}

// mostMissed takes without a value end a series: probes write some values every few seconds only.
const mostMissed = 2

func newTable(most int) *table {
	return &table{most: most, seed: maphash.MakeSeed(), series: map[uint64]*series{}, left: map[string]int{}, parties: newParties(), streams: streams{map[uint64]*incoming{}}}
}

// Sample implements recording.Sink.
func (t *table) Sample(at recording.Time, name string, l recording.Labels, v float64) {
	if perProcess(l) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = max(t.now, at)
	t.set(at, name, l, v, t.most-t.most/3)
}

// Append implements recording.Sink.
func (t *table) Append(row recording.Row) {
	switch row := row.(type) {
	case recording.Turns:
		t.mu.Lock()
		defer t.mu.Unlock()
		t.now = max(t.now, row.T)
		t.parties.add(row)
	case recording.Socket:
		t.mu.Lock()
		defer t.mu.Unlock()
		t.now = max(t.now, row.T)
		t.streams.add(row)
	}
}

// perProcess: a host has thousands of these, and what they say of a service is in its parties.
func perProcess(l recording.Labels) bool {
	for _, name := range []string{"pid", "tid", "inode", "cookie"} {
		if _, is := l[name]; is {
			return true
		}
	}
	return false
}

// set notes a value. A new series needs that there are fewer than room: the last third is for services and snag itself.
func (t *table) set(at recording.Time, name string, l recording.Labels, v float64, room int) {
	key := t.key(name, l)
	s := t.series[key]
	if s == nil {
		if len(t.series) >= room {
			t.left[name]++
			return
		}
		s = &series{name: name, labels: maps.Clone(l)}
		t.series[key] = s
	}
	s.value, s.at, s.fresh = v, at, true
}

// key does not depend on the order of the labels.
func (t *table) key(name string, l recording.Labels) uint64 {
	sum := maphash.String(t.seed, name)
	for k, v := range l {
		sum += 31*maphash.String(t.seed, k) ^ maphash.String(t.seed, v)
	}
	return sum
}

// take returns what has a value since the last take, and what has none any more; left out are the names that found no
// room, with how often.
func (t *table) take(now recording.Time, more []Measured) (all []sample, left []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range more {
		t.set(now, m.Name, m.Labels, m.Value, t.most)
	}
	for _, m := range slices.Concat(t.parties.measured(t.now), t.streams.measured(t.now)) {
		t.set(now, m.Name, m.Labels, m.Value, t.most)
	}
	for key, s := range t.series {
		switch {
		case s.fresh:
			s.fresh, s.missed = false, 0
			all = append(all, s.sample(s.value, s.at))
		default:
			if s.missed++; s.missed == mostMissed {
				all = append(all, s.sample(stale, now))
				delete(t.series, key)
			}
		}
	}
	left = slices.Sorted(maps.Keys(t.left))
	clear(t.left)
	return all, left
}

func (s *series) sample(v float64, at recording.Time) sample {
	out := sample{labels: []label{{"__name__", s.name}}, value: v, at: at}
	for k, v := range s.labels {
		out.labels = append(out.labels, label{k, strings.ToValidUTF8(v, "�")})
	}
	return out
}

// Measured is a value that is no sample of a probe.
type Measured struct {
	Name   string
	Labels recording.Labels
	Value  float64
}
