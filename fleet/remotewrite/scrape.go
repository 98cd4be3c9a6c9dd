package remotewrite

import (
	"slices"
	"strings"

	"snag/recording"
)

// Scrape keeps what a sender would send, for who asks for it: the services and dependencies, and the series that only
// snag has; node_exporter serves the others by the same names. It is a recording.Sink and never waits.
type Scrape struct{ table *table }

// NewScrape keeps so many series at most.
func NewScrape(most int) Scrape { return Scrape{newTable(most)} }

// Sample implements recording.Sink.
func (s Scrape) Sample(at recording.Time, name string, l recording.Labels, v float64) {
	if strings.HasPrefix(name, "snag_") {
		s.table.Sample(at, name, l, v)
	}
}

// Append implements recording.Sink.
func (s Scrape) Append(row recording.Row) { s.table.Append(row) }

// scraped is how old a value is at most: probes write some every few seconds only.
const scraped = 2 * DefaultEvery

// Now returns what is measured now. Series that have no value any more are gone.
func (s Scrape) Now(now recording.Time) (out []Measured) {
	t := s.table
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, one := range t.series {
		if now.Sub(one.at) > scraped {
			delete(t.series, key)
			continue
		}
		out = append(out, Measured{one.name, one.labels, one.value})
	}
	clear(t.left)
	return slices.Concat(out, t.parties.measured(t.now), t.streams.measured(t.now))
}
