package host

import (
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// farPublishers are the streams whose publisher is not on this host, and whose connection to the
// server ended when the stream did: which end did it, the server's own connection tells.
func farPublishers(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	seen := map[*scene.Socket]bool{}
	for _, st := range s.Streams {
		n := len(st.Way) - 1
		if n < 1 || st.Way[n].From != nil || st.Way[n].To == nil || st.Way[n].To.Owner() == nil || seen[st.Way[n].To] {
			continue // who sends to snag's own socket is the server
		}
		in := st.Way[n].To
		var active []recording.Interval
		var h hangUp
		for _, g := range st.Gone(recording.EventStreamEnded, s.Window) {
			if how := hungUp(r, in, g.Start.Add(-st.Delay)); how.by != "" {
				h, active = how, append(active, g.Interval)
			}
		}
		if h.by == "" {
			continue
		}
		seen[in] = true
		gone := intervals.Seconds(active, s.Window.End)
		out = append(out, suspect.Finding{
			Subject: h.subject, Active: active, Related: []recording.Subject{st.Subject, in.Subject}, Remedy: h.remedy,
			Text:     fmt.Sprintf("%s; nothing was sent for %s", h.text, units.Lasting(gone)),
			Harm:     suspect.Harm{Symptom: scene.StreamEnded, Amount: gone, Of: s.Window.Length(s.Window.End).Seconds(), Unit: "s", Text: "nothing was sent for " + units.Lasting(gone)},
			Evidence: []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Value: 1, Unit: "connections", Source: h.from, Origin: "connections", Text: h.text + ", as the stream ended"}},
			Next:     h.next,
		})
	}
	return out
}

// hangUp is how a publisher's connection ended, as the server's host saw it. Without by it is not
// known.
type hangUp struct {
	by, text, next string
	subject        recording.Subject
	remedy         suspect.Remedy
	from           source.Source
}

// hangUpWithin is how far apart the end of a publisher's connection and that of its stream are.
const hangUpWithin = 3 * time.Second

// hungUp reports how the connection of a receiver ended about a time.
func hungUp(r *recording.Recording, in *scene.Socket, at recording.Time) hangUp {
	local, remote, netns := in.First().Local, in.First().Remote, in.First().Netns
	far, server := recording.Host(remote), in.Owner().Subject
	near := func(t recording.Time) bool { return t.Sub(at) >= -hangUpWithin && t.Sub(at) <= hangUpWithin }
	h := hangUp{subject: in.Subject, from: source.Tracepoint("tcp:tcp_receive_reset", source.Resets),
		next: fmt.Sprintf("on %s: snag find, and the log of its publisher", far),
		remedy: suspect.Remedy{Permanently: fmt.Sprintf("See on %s why its publisher ended then (its log; snag find there). Have it restarted automatically.", far),
			Program: "Reconnect automatically."}}
	for _, got := range r.Resets {
		if got.Dir == "received" && got.Netns == netns && got.Local == local && got.Remote == remote && near(got.T) {
			h.by, h.text = remote, fmt.Sprintf("the publisher at %s, on another host, or a device on the way, reset its connection to %s", remote, server.Name)
			h.remedy.Permanently += fmt.Sprintf(" If it did not, a firewall or a load balancer between %s and %s reset it.", far, recording.Host(local))
			return h
		}
	}
	h.from = source.Connections
	closed, byPeer := 0.0, 0.0
	for _, c := range r.Connections {
		if c.Role == "accept" && c.Netns == netns && c.Local == local && c.Remote == far && near(c.T.Add(time.Second/2)) {
			closed, byPeer = closed+float64(c.Closed), byPeer+float64(c.ByPeer)
		}
	}
	switch {
	case closed == 0 || byPeer > 0 && byPeer < closed: // several ended then, each in its own way
		return hangUp{}
	case byPeer > 0:
		h.by, h.text = remote, fmt.Sprintf("the publisher at %s, on another host, closed its connection to %s", remote, server.Name)
		return h
	}
	h.by, h.subject = server.Name, server
	h.text = fmt.Sprintf("%s closed the connection of its publisher at %s", server.Name, remote)
	h.remedy = suspect.Remedy{Permanently: fmt.Sprintf("See in the log of %s why: a limit of time, a permission, an operator.", server.Name), Program: "Reconnect automatically."}
	h.next = fmt.Sprintf("the log of %s; strace -f -e trace=close,shutdown -p %d", server.Name, server.PID)
	return h
}
