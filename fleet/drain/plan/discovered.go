package plan

import (
	"cmp"

	"snag/fleet/discovery"
	"snag/internal/sorting"
)

// Discovered are the peers that a discovery lists, in the order of their names. A peer has the name of its pod of
// Kubernetes, or else of its host, and the port behind it where several have that name. Its labels are the discovery's.
func Discovered(all []discovery.Target) []Peer {
	named := map[string]int{}
	for _, t := range all {
		named[nameOf(t)]++
	}
	out := make([]Peer, 0, len(all))
	for _, t := range all {
		p := Peer{Name: nameOf(t), Host: t.HostName(), Labels: t.Labels}
		_, port := t.Host()
		if port != "" {
			p.Address = t.Address
			if named[p.Name] > 1 {
				p.Name += ":" + port
			}
		}
		out = append(out, p)
	}
	sorting.By(out, func(a, b Peer) int {
		return cmp.Or(sorting.Natural(a.Name, b.Name), cmp.Compare(a.Address, b.Address))
	})
	return out
}

func nameOf(t discovery.Target) string {
	return cmp.Or(t.Labels["__meta_kubernetes_pod_name"], t.HostName())
}
