package net

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// nobodyLetsIn are peers that answer no SYN: they are gone before a connection is there.
func nobodyLetsIn(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	for _, u := range scene.UnansweredConnects(s, r) {
		host, port := recording.Host(u.Remote), recording.Port(u.Remote)
		f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindPeer, Netns: u.Netns, Proto: "tcp", Remote: u.Remote}, Related: []recording.Subject{u.Subject}, Active: u.Active,
			Text: fmt.Sprintf("%s is gone, or the whole path to it: it answers no SYN", u.Remote),
			Next: fmt.Sprintf("ping -c 3 %s   # and there: ss -ltn 'sport = :%s'", host, port)}
		for _, pid := range u.PIDs {
			if p := s.Process(pid); p != nil {
				f.Related = append(f.Related, p.Subject)
				f.Text = fmt.Sprintf("%s is gone, or the whole path to it: it answers no SYN of %s", u.Remote, p.Subject.Name)
				f.Remedy.Program = fmt.Sprintf("%s: a time limit of a second or two for connect, and another address after it.", measure.OrProgram(p.Subject.Comm))
			}
		}
		waits := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: u.Waiting, Unit: "connections", Source: source.Of("ss -tn state syn-sent"), Origin: "sockets",
			Text: fmt.Sprintf("%.2g connections to it waited for an answer at any moment, one for %s, and none came about meanwhile", u.Waiting, units.Lasting(u.Longest))}
		again := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: u.Again, Unit: "SYNs", Source: source.Retransmit, Origin: "retransmits",
			Text: fmt.Sprintf("%s SYNs to it were sent again: neither a SYN-ACK nor a reset came", units.Count(u.Again))}
		if l := listenerThere(s, u); l != nil {
			waits.Grade = suspect.Weak
			f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Source: source.SS("-ltnp"), Origin: "peer",
				Text: fmt.Sprintf("%s is on this host and listens: what is sent to it is dropped on the way, or at its queue", s.Name(l.Subject))})
		}
		if n := hostAnswers(s, u); n > 0 {
			waits.Grade = suspect.Weak
			f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: float64(n), Unit: "connections", Source: source.SS("-tin", source.SegsIn), Origin: "other connections",
				Text: fmt.Sprintf("%s to %s went on meanwhile: the host is there, and something drops what is sent to port %s", units.Plural(n, "other connection"), host, port)})
		}
		f.Evidence = append([]suspect.Evidence{waits, again}, f.Evidence...)
		f.Harm = suspect.Harm{Symptom: scene.ConnectLatency, Amount: u.Waiting, Unit: "connections", Text: waits.Text}
		out = append(out, f)
	}
	return out
}

// listenerThere is the listener that a SYN would reach, where it is on this host and alive.
func listenerThere(s *scene.Scene, u *scene.Unanswered) *scene.Socket {
	l := s.Callee(recording.Turns{Netns: u.Netns, Remote: u.Remote})
	if l == nil || l.Owner() == nil {
		return nil
	}
	return l
}

// hostAnswers is how many connections of the same namespace to the same host got segments meanwhile.
func hostAnswers(s *scene.Scene, u *scene.Unanswered) (n int) {
	for _, k := range s.Sockets {
		f := k.First()
		if f.Netns != u.Netns || f.Proto != "tcp" || f.State != "ESTABLISHED" || recording.Host(f.Remote) != recording.Host(u.Remote) {
			continue
		}
		for i := 1; i < len(k.Rows); i++ {
			a, b := k.Rows[i-1], k.Rows[i]
			if a.TCP != nil && b.TCP != nil && b.TCP.SegsIn > a.TCP.SegsIn && intervals.Cover(u.Active, b.T) {
				n++
				break
			}
		}
	}
	return n
}
