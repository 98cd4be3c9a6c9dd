package page

import (
	"snag/recording"
	"snag/scene"
	"snag/verdict"
)

// drawn are the states whose subjects are marked in the scene, worst first.
var drawn = []verdict.State{verdict.Culprit, verdict.Contributing, verdict.Consequence, verdict.Risk}

// findMarks says what was found on which node. A subject that the scene has no
// node for is marked under its own id: the path that draws it asks for that.
func (b *builder) findMarks() map[scene.NodeID][]Mark {
	out := map[scene.NodeID][]Mark{}
	add := func(sub recording.Subject, m Mark) {
		if sub.Kind == "" {
			return
		}
		id := b.nodeID(sub)
		for _, have := range out[id] {
			if have.State == m.State && have.Name == m.Name {
				return
			}
		}
		out[id] = append(out[id], m)
	}
	for _, state := range drawn {
		for _, e := range b.v.With(state) {
			add(e.Subject, Mark{string(state), e.Suspect.Name, e.ID})
		}
	}
	for _, s := range b.v.Symptoms {
		add(s.Subject, Mark{"symptom", s.Name, ""})
	}
	return out
}

// nodeID is the node that a subject is drawn as. A qdisc is drawn as its
// interface; a thread, a function, snag itself and what else has no node of its own
// as its process.
func (b *builder) nodeID(sub recording.Subject) scene.NodeID {
	switch sub.Kind {
	case recording.KindQdisc:
		return scene.IDOf(recording.Subject{Kind: recording.KindInterface, Netns: sub.Netns, Device: sub.Device})
	case recording.KindSocket, recording.KindListener, recording.KindFlow:
		if n := b.s.Anchor(sub); n != nil {
			return n.ID
		}
	}
	if p := b.s.Process(sub.PID); p != nil && (sub.Kind == recording.KindThread || b.s.NodeOf(sub) == nil) {
		return p.ID
	}
	return scene.IDOf(sub)
}

// subjects are those that something was found on, the culprits' first, then who
// suffers, then the rest.
func (b *builder) subjects() []recording.Subject {
	var out []recording.Subject
	for _, e := range b.v.With(verdict.Culprit) {
		out = append(out, e.Subject)
		for _, l := range e.Chain {
			out = append(out, l.Subject)
		}
	}
	for _, s := range b.v.Symptoms {
		out = append(out, s.Subject)
	}
	for _, state := range drawn[1:] {
		for _, e := range b.v.With(state) {
			out = append(out, e.Subject)
		}
	}
	return out
}
