package hosts

import (
	"context"
	"slices"
	"strings"
	"time"

	"snag/fleet/prom"
	"snag/scene"
)

// Sender is who sends a host a stream over TCP, as its recorder counts bytes.
type Sender struct{ Process, From string }

const (
	mostRelays = 6 // hosts that a stream goes through
	// lateNotice is by how much the cause's incident may begin after its victim's: each recorder notices by itself.
	lateNotice = 90 * time.Second
)

// ofStreams are the symptoms of whoever gets a stream.
var ofStreams = []string{scene.StreamFreeze, scene.StreamLate, scene.FramesSkipped}

// suffersStream reports whether a host is affected by a stream, and its own verdict names no cause.
func (h *Host) suffersStream() bool {
	return h.Affected() && len(h.Culprits) == 0 && slices.ContainsFunc(h.Symptoms, func(n Named) bool { return slices.Contains(ofStreams, n.Name) })
}

// senders reads who sends a stream to hosts that suffer by one, then who sends it to those, until a host's verdict
// names a cause.
func (r *reader) senders(ctx context.Context) error {
	var next []string
	for _, name := range r.names() {
		if h := r.Hosts[name]; h.Chosen && h.suffersStream() {
			next = append(next, name)
		}
	}
	been := map[string]bool{}
	for range mostRelays {
		var addresses []string
		if err := r.chunks(next, func(names string) error {
			return r.all(ctx, "sum by (instance, process, from) (snag_stream_received_bytes_total{instance=~"+names+"})", func(h *Host, s prom.Sample) {
				h.Senders = append(h.Senders, Sender{s.Labels["process"], s.Labels["from"]})
				addresses = append(addresses, s.Labels["from"])
			}, false)
		}); err != nil {
			return err
		}
		if err := r.addresses(ctx, addressesOf(addresses)); err != nil {
			return err
		}
		last := next
		next = nil
		for _, name := range last {
			been[name] = true
		}
		for _, name := range last {
			for _, s := range r.Hosts[name].Senders {
				if at := r.at(s.From); at != nil && len(at.Culprits) == 0 && !been[at.Name] && !slices.Contains(next, at.Name) {
					next = append(next, at.Name)
				}
			}
		}
	}
	return nil
}

// sentBy follows the streams that a host gets to the one cause that they lead to. Where they lead to several, it is not
// known which stream suffers.
func (f *Fleet) sentBy(h *Host, way []Step) (cause Cause, on []Step, ok bool) {
	for _, s := range h.suspectSenders() {
		next := f.at(s.From)
		if next == nil || next == h || left(way, next) {
			continue
		}
		c, w := Cause{}, with(way, Step{From: h.Name, To: next.Name, Server: s.From, Stream: true})
		if len(next.Culprits) > 0 {
			c, w = f.follow(next, w)
		} else if c, w, _ = f.sentBy(next, w); c.Suspect == "" {
			continue
		}
		switch {
		case !c.proved():
		case ok && c.key() != cause.key():
			return Cause{}, nil, false
		case !ok:
			cause, on, ok = c, w, true
		}
	}
	return cause, on, ok
}

// suspectSenders are the senders that a symptom names, else all.
func (h *Host) suspectSenders() []Sender {
	var named []Sender
	for _, s := range h.Senders {
		if slices.ContainsFunc(h.Symptoms, func(n Named) bool {
			return slices.Contains(ofStreams, n.Name) && slices.Contains(strings.Fields(n.Subject), s.From)
		}) {
			named = append(named, s)
		}
	}
	if len(named) > 0 {
		return named
	}
	return h.Senders
}
