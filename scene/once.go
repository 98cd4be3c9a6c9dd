package scene

import "snag/recording"

// once leaves out what is another symptom seen from elsewhere: the writing end
// of a flow whose reader is seen not to read, the samples of unread data where
// the turns themselves were measured, and a listener's slow handshakes where
// connections are seen to wait in its queue.
func once(s *Scene, all []Symptom) []Symptom {
	var out []Symptom
	for i, a := range all {
		double := false
		for j, b := range all {
			if i != j && a.Name == b.Name && s.shadows(a, b, i > j) {
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

// shadows tells whether b tells all that a does. later breaks ties.
func (s *Scene) shadows(a, b Symptom, later bool) bool {
	switch a.Name {
	case StreamFreeze:
		ka, kb := s.bySockSubject(a.Subject), s.bySockSubject(b.Subject)
		return ka != nil && kb != nil && ka.Peer == kb && a.Side == "write" && b.Side == "read" && overlap(a.Active, b.Active)
	case RequestLatency:
		return a.Unit == "ratio" && b.Unit == "s" && a.Subject.PID != 0 && a.Subject.PID == b.Subject.PID
	case ConnectLatency, ConnectionErrors:
		return later && IDOf(a.Subject) == IDOf(b.Subject)
	}
	return false
}

func (s *Scene) bySockSubject(sub recording.Subject) *Socket {
	return s.SocketAt(sub.Netns, sub.Proto, sub.Local, sub.Remote)
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
