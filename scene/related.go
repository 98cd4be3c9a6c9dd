package scene

// maxHops bounds how far evidence may be carried: process → socket → peer
// socket → its process → that one's other socket is as far as one host's
// reasons reach.
const maxHops = 5

// Related tells whether the scene ties a to b by edges that evidence may be
// carried over, and by which. Namespaces do not tie: everything is in one.
func (s *Scene) Related(a, b NodeID) ([]Edge, bool) {
	if a == b {
		return nil, true
	}
	type step struct {
		at   NodeID
		prev int
		via  Edge
		hops int
	}
	queue := []step{{at: a, prev: -1}}
	seen := map[NodeID]bool{a: true}
	for i := 0; i < len(queue); i++ {
		if queue[i].hops == maxHops {
			continue
		}
		for _, e := range s.adj[queue[i].at] {
			if e.Kind == In {
				continue
			}
			next := e.To
			if next == queue[i].at {
				next = e.From
			}
			if seen[next] {
				continue
			}
			seen[next] = true
			queue = append(queue, step{next, i, e, queue[i].hops + 1})
			if next == b {
				var path []Edge
				for j := len(queue) - 1; queue[j].prev >= 0; j = queue[j].prev {
					path = append([]Edge{queue[j].via}, path...)
				}
				return path, true
			}
		}
	}
	return nil, false
}

// Neighbours returns the ids one edge away, of that kind ("" for all but In).
func (s *Scene) Neighbours(id NodeID, kind EdgeKind) []NodeID {
	var out []NodeID
	for _, e := range s.adj[id] {
		if (kind == "" && e.Kind == In) || (kind != "" && e.Kind != kind) {
			continue
		}
		if e.From == id {
			out = append(out, e.To)
		} else {
			out = append(out, e.From)
		}
	}
	return out
}
