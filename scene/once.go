package scene

import (
	"fmt"

	"snag/recording"
)

// once leaves out what is another symptom seen from elsewhere: the writing end
// of a flow whose reader is seen not to read, what a socket suffers that carries a
// stream which was watched frame by frame, the samples of unread data where
// the turns themselves were measured, and a listener's slow handshakes where
// connections are seen to wait in its queue.
func once(s *Scene, all []Symptom) []Symptom {
	var out []Symptom
	for i, a := range all {
		double := false
		for j, b := range all {
			if i != j && (a.Name == b.Name && s.shadows(a, b, i > j) || s.carries(a, b)) {
				double = true
				break
			}
		}
		if !double {
			out = append(out, a)
		}
	}
	return out
}

// shadows reports whether b tells all that a does. later breaks ties.
func (s *Scene) shadows(a, b Symptom, later bool) bool {
	switch a.Name {
	case StreamFreeze:
		ka, kb := s.bySockSubject(a.Subject), s.bySockSubject(b.Subject)
		if later && a.Side == b.Side && IDOf(a.Subject) == IDOf(b.Subject) {
			return true
		}
		return ka != nil && kb != nil && ka.Peer == kb && a.Side == "write" && b.Side == "read" && overlap(a.Active, b.Active)
	case RequestLatency:
		if b.Side == BothEnds && a.Side != BothEnds && (a.Subject.Remote == b.Subject.Remote || a.Subject.Local == b.Subject.Remote) {
			return true // one end of it
		}
		return a.Unit == "ratio" && b.Unit == "s" && a.Subject.PID != 0 && a.Subject.PID == b.Subject.PID
	case ConnectLatency, ConnectionErrors:
		return later && IDOf(a.Subject) == IDOf(b.Subject)
	}
	return false
}

func (s *Scene) bySockSubject(sub recording.Subject) *Socket {
	return s.SocketAt(sub.Netns, sub.Proto, sub.Local, sub.Remote)
}

// mostAlike is how many symptoms of one kind on one process are told one by one.
const mostAlike = 3

// fold keeps the worst of many like symptoms of one process, which come worst
// first: a relay that stands still freezes each of its viewers.
func fold(all []Symptom) []Symptom {
	type key struct {
		name string
		pid  int
	}
	last, n := map[key]int{}, map[key]int{}
	var out []Symptom
	for _, s := range all {
		k := key{s.Name, s.Subject.PID}
		if s.Subject.PID != 0 {
			n[k]++
			if n[k] > mostAlike {
				continue
			}
			last[k] = len(out)
		}
		out = append(out, s)
	}
	for k, i := range last {
		if more := n[k] - mostAlike; more > 0 {
			out[i].Text += fmt.Sprintf(" (this process has %d more of this kind)", more)
		}
	}
	return out
}

func overlap(a, b []recording.Interval) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Start < y.End && y.Start < x.End {
				return true
			}
		}
	}
	return false
}
