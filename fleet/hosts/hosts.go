// Package hosts is what recorders of many hosts say (snag record --remote-write), read from a store: who is affected,
// the verdict that each host's recorder came to, and which asks which. Blame (blame.go) follows it from host to host.
package hosts

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"snag/fleet/exporter"
)

// Host is one of them.
type Host struct {
	Name string
	// Seen is when its recorder last sent something; zero: it never had one. Of one that is Gone its recorder says
	// nothing now.
	Seen time.Time
	Gone bool
	// Recording: its recorder records; it may be paused, as its disk is full.
	Recording bool
	// Chosen: it is one of those whose victims were asked for.
	Chosen bool
	Since  time.Time // its incident; zero: it has none
	// Culprits of it, the first of the verdict first, and symptoms.
	Culprits, Symptoms []Named
	// Calls are those that matter to what it waits for (calls.go), those that hold most open first.
	Calls []*Call
	// Senders are who sends streams to a host that suffers by one, or is on the way of one (streams.go).
	Senders []Sender
	// Ahead is how far its clock is ahead of the store's, where that is more than some seconds.
	Ahead time.Duration
	// Shared is why nothing is known of it: several recorders send its name. "": one does.
	Shared string
	// Exporter is its node_exporter, where no recorder says more (exporters.go); nil: none, or none that matters.
	Exporter *exporter.Host

	// failing are the ways to those whose errors it passes on (failing.go).
	failing []Step
	// forwards are the servers behind addresses of services, as this host leads or balances them, those with most
	// connections first.
	forwards map[string][]forward
}

// forward is a server behind an address, with how many connections are led there.
type forward struct {
	to          string
	connections float64
}

// Named is a culprit or a symptom of a host's own verdict.
type Named struct {
	Name, Subject string
	// Beyond is the address of another host that a culprit's cause is at or behind; "" of one on its host.
	Beyond string
}

// Call is what a host's processes ask of others.
type Call struct {
	Process, Server string
	Figures
	// Share is how much of the time of the host's answers it takes; 0: little, or not asked for.
	Share float64
}

// Figures are a second's on average: answers and the time of each in seconds; and requests that are open.
type Figures struct{ Rate, Mean, Open float64 }

// Fleet is all that is known.
type Fleet struct {
	At       time.Time
	Hosts    map[string]*Host
	Warnings []string // what the store could not say

	// Of discovery, where it was asked (Expect): its name, how many hosts it lists, which of them have no recorder, and
	// what of it could not be read.
	Source   string
	Listed   int
	Missing  []Missing
	Unlisted []string

	// Unread are sentences on what the store did not answer of node_exporter's series.
	Unread []string

	byAddress map[netip.Addr][]string // names of the hosts that have an address
}

// Affected reports whether its recorder has an incident.
func (h *Host) Affected() bool { return !h.Since.IsZero() && !h.Gone }

// names are the hosts in order.
func (f *Fleet) names() []string { return slices.Sorted(maps.Keys(f.Hosts)) }

// has notes an address of a host.
func (f *Fleet) has(h *Host, a netip.Addr) {
	if !slices.Contains(f.byAddress[a], h.Name) {
		f.byAddress[a] = append(f.byAddress[a], h.Name)
	}
}
