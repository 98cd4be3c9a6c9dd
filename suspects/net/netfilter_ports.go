package net

import (
	"fmt"
	"slices"

	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
)

// portsOf are ports to which packets were dropped that are wanted: of one address those of data
// connections, each of which is used once; or one port of several addresses.
type portsOf struct {
	key   measure.DropKey // of the first
	ports []string
	rows  []recording.Drop
	held  []*scene.Socket // that want them; of one port nil where nobody does
}

func (p *portsOf) add(port string, rows []recording.Drop, held *scene.Socket) {
	p.ports, p.rows, p.held = append(p.ports, port), append(p.rows, rows...), append(p.held, held)
}

// joined adds a port; one that another address of this host has, of the same listener and at the
// same hook, is the same rule's doing.
func joined(r *recording.Recording, all []*portsOf, p *portsOf) []*portsOf {
	for _, other := range all {
		if other.key.Netns == p.key.Netns && other.key.Proto == p.key.Proto && recording.Port(other.key.Dst) == recording.Port(p.key.Dst) && recording.Port(p.key.Dst) != "" &&
			sameListener(other.held[0], p.held[0]) && hookOf(r, other.rows) == hookOf(r, p.rows) {
			other.add(p.key.Dst, p.rows, p.held[0])
			return all
		}
	}
	return append(all, p)
}

func sameListener(a, b *scene.Socket) bool {
	return a != nil && b != nil && (a == b || a.Listener != nil && (a.Listener == b.Listener || a.Listener == b) || b.Listener == a)
}

// words name the port, or say how many there are.
func (p *portsOf) words() string {
	if len(p.ports) == 1 {
		return p.key.Dst
	}
	if port := recording.Port(p.key.Dst); !slices.ContainsFunc(p.ports, func(at string) bool { return recording.Port(at) != port }) {
		return fmt.Sprintf("port %s of %d addresses", port, len(p.ports))
	}
	return fmt.Sprintf("%d ports of %s", len(p.ports), recording.Host(p.key.Dst))
}
