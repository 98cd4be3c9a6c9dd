// Package exporter reads what Prometheus' node_exporter (0.16 or later) says of hosts that have no recorder, from a
// store, and finds signs in it: counters that look as they do when a cause of snag's catalogue is at work. A sign
// accuses nobody, as node_exporter does not show who waits.
package exporter

import (
	"context"
	"net/netip"
	"time"

	"snag/fleet/prom"
)

// Querier is a store.
type Querier interface {
	Query(ctx context.Context, expression string, at time.Time) (prom.Answer, error)
}

// Host is one that node_exporter was scraped on within the last hour.
type Host struct {
	// Name as people call it (name.go); Instance as the store does.
	Name, Instance string
	// Names under which others may know it, and its addresses, as far as labels have them.
	Names     []string
	Addresses []netip.Addr
	// Scraped: it is now; if not, nothing is known of it.
	Scraped bool
	// Chosen: it has the labels that were asked for.
	Chosen bool
	// Signs are in the order in which to look at them.
	Signs []Sign
	// Unread are collectors of node_exporter without which some signs can't be seen.
	Unread []string

	key
	nodename string
	boot     float64 // when its kernel started; 0: not known
}

// Sign is a counter that looks wrong.
type Sign struct {
	// Name of the suspect whose own counter it is (docs/suspects) or, where there is none, of the sign.
	Name    string
	Suspect bool   // Name is a suspect's
	Subject string // a device; "": the host
	// Value over the last minutes and in the hour before, in Unit; Usual is nil where that hour is not known. A
	// count is for as long as Window.
	Value float64
	Usual *float64
	Unit  string // of a share: "share", from 0 to 1
	Text  string // what it means, with its number
}

// Window is how long "the last minutes" are: Prometheus scrapes each minute by default, and a rate needs two samples
// even where one was missed.
const Window = 5 * time.Minute

// before is how long the time is that shows what is usual, which ends as Window begins.
const before = time.Hour

// Hosts are all that were read.
type Hosts struct {
	At  time.Time
	All []*Host
	// Failed are sentences on what the store did not answer.
	Failed []string

	by map[key]*Host
}
