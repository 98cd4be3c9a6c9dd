package page

import (
	"fmt"
	"slices"
	"sort"

	"snag/recording"
	"snag/scene"
)

// focus is what a path is drawn around: a process, a socket that nobody owns, or
// something that has neither (a closed port, a device).
type focus struct {
	process *scene.Process
	socket  *scene.Socket
	subject recording.Subject // of the other two: what to hang at the process, or to draw alone
}

func (f focus) key() scene.NodeID {
	switch {
	case f.process != nil:
		return f.process.ID
	case f.socket != nil:
		return f.socket.ID
	}
	return scene.IDOf(f.subject)
}

// scene draws the paths through what was found; where nothing was, through the
// two processes that moved the most.
func (b *builder) scene() Scene {
	out := Scene{Paths: []Path{}}
	chosen := "those around the findings are drawn"
	at := map[scene.NodeID]int{}
	var all []focus
	take := func(f focus) {
		if i, have := at[f.key()]; have {
			if all[i].subject.Kind == "" {
				all[i].subject = f.subject
			}
			return
		}
		at[f.key()] = len(all)
		all = append(all, f)
	}
	for _, sub := range b.subjects() {
		for _, f := range b.focuses(sub) {
			take(f)
		}
	}
	if len(all) == 0 {
		chosen = "nothing was found, so the busiest are drawn"
		for _, p := range b.busiest(func(p *scene.Process) bool { return !p.Last().Self }, 2) {
			take(focus{process: p})
		}
	}
	left, joined := 0, false
	for _, f := range all {
		p := b.path(f)
		if len(out.Paths) == b.limits.Paths || len(p.Nodes) == 1 && !hurts(p.Nodes[0]) {
			left++ // a lone risk is no path: the verdict lists it
			continue
		}
		out.Paths = append(out.Paths, p)
		joined = joined || len(p.Nodes) > 1
	}
	if !joined { // what holds the whole host: whose way it is in shows the busiest
		for _, p := range b.busiest(func(p *scene.Process) bool { return !p.Last().Self }, 1) {
			out.Paths = append(out.Paths, b.path(focus{process: p}))
			chosen = "the findings are tied to no process of it, so the busiest is drawn beside them"
		}
	}
	if left > 0 {
		out.Rest = fmt.Sprintf("%d more with findings or symptoms are not drawn; ", left)
	}
	out.Rest += fmt.Sprintf("of %d processes, %d sockets and %d interfaces recorded, %s",
		len(b.s.Processes), len(b.s.Sockets), len(b.s.Interfaces), chosen)
	return out
}

// hurts reports whether a hop is one that a culprit or a symptom is at.
func hurts(n Node) bool {
	for _, m := range n.Marks {
		if m.State == "culprit" || m.State == "symptom" {
			return true
		}
	}
	return false
}

// focuses finds the processes that a subject is seen at.
func (b *builder) focuses(sub recording.Subject) []focus {
	switch sub.Kind {
	case recording.KindCgroup:
		id := scene.IDOf(sub)
		return b.hang(sub, b.busiest(func(p *scene.Process) bool { return b.tied(p.ID, id, scene.LimitedBy) }, 2))
	case recording.KindInterface, recording.KindQdisc:
		id := b.nodeID(sub)
		crossing := func(p *scene.Process) bool {
			for _, k := range p.Sockets {
				if b.tied(k.ID, id, scene.Crosses) {
					return true
				}
			}
			return false
		}
		if all := b.busiest(crossing, 1); len(all) > 0 {
			return []focus{{process: all[0]}}
		}
		// A router's: the flows that it holds are named beside it.
		var over []*scene.Process
		for _, r := range b.related(sub) {
			if n := b.s.Anchor(r); n != nil {
				if p := b.s.Process(n.Subject.PID); p != nil && !slices.Contains(over, p) && len(over) < 1 {
					over = append(over, p)
				}
			}
		}
		return b.hang(sub, over)
	case recording.KindNetns:
		return b.hang(sub, b.busiest(func(p *scene.Process) bool { return p.Subject.Netns == sub.Netns }, 1))
	case recording.KindHost, recording.KindCPU, recording.KindFile, recording.KindDisk, recording.KindMemory:
		if sub.Name == "as reported" {
			return nil
		}
		return b.hang(sub, b.sufferer())
	case recording.KindPort:
		return []focus{{subject: sub}}
	}
	if n := b.s.Anchor(sub); n != nil {
		if k := b.s.Socket(n.ID); k != nil {
			// Of several owners (a master and its workers) the one that moves data.
			if all := b.busiest(func(p *scene.Process) bool { return slices.Contains(k.Owners, p) }, 1); len(all) > 0 {
				return []focus{{process: all[0]}}
			}
			return []focus{{socket: k}}
		}
	}
	if p := b.s.Process(sub.PID); p != nil {
		return []focus{{process: p}}
	}
	return []focus{{subject: sub}}
}

// related are the other parties of what was found on a subject.
func (b *builder) related(sub recording.Subject) []recording.Subject {
	var out []recording.Subject
	for _, state := range drawn {
		for _, e := range b.v.With(state) {
			if scene.IDOf(e.Subject) == scene.IDOf(sub) {
				out = append(out, e.Related...)
			}
		}
	}
	return out
}

// sufferer is the process that the worst symptom is felt at; none where it is not
// one's: what holds the whole host is not hung at somebody by chance.
func (b *builder) sufferer() []*scene.Process {
	for _, s := range b.v.Symptoms {
		if p := b.s.Process(s.Subject.PID); p != nil {
			return []*scene.Process{p}
		}
	}
	return nil
}

func (b *builder) hang(sub recording.Subject, at []*scene.Process) []focus {
	if len(at) == 0 {
		return []focus{{subject: sub}}
	}
	var out []focus
	for _, p := range at {
		out = append(out, focus{process: p, subject: sub})
	}
	return out
}

func (b *builder) tied(from, to scene.NodeID, kind scene.EdgeKind) bool {
	for _, id := range b.s.Neighbours(from, kind) {
		if id == to {
			return true
		}
	}
	return false
}

// busiest are the n processes of those wanted whose sockets matter most.
func (b *builder) busiest(want func(*scene.Process) bool, n int) []*scene.Process {
	weight := map[*scene.Process]float64{}
	var out []*scene.Process
	for _, p := range b.s.Processes {
		if !want(p) {
			continue
		}
		for _, k := range p.Sockets {
			weight[p] += b.weight(k)
		}
		if weight[p] > 0 || len(b.marks[p.ID]) > 0 {
			out = append(out, p)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return weight[out[i]] > weight[out[j]] })
	return out[:min(n, len(out))]
}

// weight orders sockets: what something was found on, then what hurts, then what
// moves bytes.
func (b *builder) weight(k *scene.Socket) float64 {
	w := 1.0
	for _, m := range b.marks[k.ID] {
		w += 1e15
		if m.State == "culprit" {
			w += 1e15
		}
	}
	if k.Peer != nil && len(b.marks[k.Peer.ID]) > 0 {
		w += 1e14
	}
	if k.Listening() {
		w += 1e10 * float64(len(b.s.Neighbours(k.ID, scene.CallsFrom)))
	}
	in, out, _ := moved(k)
	return w + float64(k.DropsGrew())*1e6 + float64(k.Last().RecvQ+k.Last().SendQ) + in + out
}

// moved is how many bytes a connection received and sent in the window, and
// whether that was measured.
func moved(k *scene.Socket) (in, out float64, ok bool) {
	a, z := k.First().TCP, k.Last().TCP
	if a == nil || z == nil || k.Listening() {
		return 0, 0, false
	}
	if len(k.Rows) == 1 { // seen once: since it began
		return float64(z.BytesReceived), float64(z.BytesSent), true
	}
	return max(0, float64(z.BytesReceived)-float64(a.BytesReceived)), max(0, float64(z.BytesSent)-float64(a.BytesSent)), true
}
