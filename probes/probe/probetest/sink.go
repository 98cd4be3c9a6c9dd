// Package probetest holds what tests of live probes share: a Sink in memory.
package probetest

import (
	"sort"
	"strings"
	"sync"

	"snag/recording"
)

// Sink keeps what a probe measures. Safe for concurrent use; it also keeps the
// probe's notices when its Notice is given as probe.Env.Notice.
type Sink struct {
	mu      sync.Mutex
	rec     recording.Recording
	series  map[string]*recording.Series
	notices []string
}

// NewSink returns an empty Sink.
func NewSink() *Sink { return &Sink{series: map[string]*recording.Series{}} }

// Sample implements recording.Sink.
func (s *Sink) Sample(t recording.Time, name string, labels recording.Labels, v float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := recording.Series{Name: name, Labels: labels}.Key()
	found := s.series[key]
	if found == nil {
		own := make(recording.Labels, len(labels)) // the caller may reuse its map
		for k, v := range labels {
			own[k] = v
		}
		found = &recording.Series{Name: name, Labels: own}
		s.series[key] = found
	}
	found.Points = append(found.Points, recording.Point{T: t, V: v})
}

// Append implements recording.Sink.
func (s *Sink) Append(row recording.Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rec.Add(row)
}

// Notice keeps the text; give it as probe.Env.Notice.
func (s *Sink) Notice(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notices = append(s.notices, text)
}

// Noticed reports whether a notice contains all the parts given.
func (s *Sink) Noticed(parts ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
next:
	for _, n := range s.notices {
		for _, p := range parts {
			if !strings.Contains(n, p) {
				continue next
			}
		}
		return true
	}
	return false
}

// Notices returns all notices so far.
func (s *Sink) Notices() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.notices...)
}

// Recording returns what was kept so far, its series sorted as Select needs.
// Of several coverage rows of a measure the last one counts, as in the reader.
func (s *Sink) Recording() *recording.Recording {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rec
	r.Series = make([]recording.Series, 0, len(s.series))
	for _, v := range s.series {
		c := *v
		c.Points = append([]recording.Point(nil), v.Points...)
		r.Series = append(r.Series, c)
	}
	recording.SortSeries(r.Series)
	r.Coverage = lastOfEach(r.Coverage)
	return &r
}

func lastOfEach(rows []recording.Coverage) []recording.Coverage {
	last := map[string]recording.Coverage{}
	for _, c := range rows {
		last[c.Probe] = c
	}
	out := make([]recording.Coverage, 0, len(last))
	for _, c := range last {
		out = append(out, c)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Probe < out[j].Probe })
	return out
}
