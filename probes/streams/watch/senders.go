package watch

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"sync/atomic"

	"snag/probes/streams/kin"
	"snag/probes/streams/stream"
)

// Unsent are the servers, address:port, of those streams read by RTMP whose publisher is not known:
// by their frames, or where none comes, by the name that one who begins to publish gives it. None
// where captured connections are watched as well: they tell.
func (w *Watcher) Unsent() (servers []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.crowd == nil {
		return nil
	}
	for _, s := range w.streams {
		if s.joined {
			return nil
		}
		l := s.link0()
		at := cmp.Or(l.remote, literal(s.asked.URL))
		if s.asked.URL.Scheme == "rtmp" && at != "" && (l.phase != asking || l.ends > 0 || l.err != nil) && s.kin.sender == "" && !slices.Contains(servers, at) {
			servers = append(servers, at)
		}
	}
	return servers
}

// literal is the address:port of an RTMP URL whose host is an address; "" where it is a name.
func literal(u *url.URL) string {
	if _, err := netip.ParseAddr(u.Hostname()); err != nil {
		return ""
	}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "1935"))
}

// Sender is a connection that brings a stream to a server, of which somebody else knows the
// frames: they are compared with those of the streams that are read (Options.Compare), whose
// publisher it is then.
type Sender struct {
	m      *kin.Member
	remote string
	over   atomic.Bool
}

// Sender makes a connection known, by the stream's name where it gave one.
func (w *Watcher) Sender(name string, named bool, remote string) *Sender {
	if w.crowd == nil {
		return nil
	}
	s := kin.Publisher
	if named {
		s = kin.Named
	}
	d := &Sender{m: w.crowd.Join(s, name, remote), remote: remote}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.senders = append(w.senders, d)
	return d
}

// Frame takes a frame that was sent.
func (d *Sender) Frame(f stream.Frame) { d.m.Frame(f) }

// Called says that the stream's name became known after all.
func (d *Sender) Called(name string) { d.m.Called(name) }

// Over says that the connection ended, or is looked at no more: whoever sent the stream last remains
// its publisher until another is seen to send it.
func (d *Sender) Over() { d.over.Store(true) }

// sentBy are those who are seen to send the frames of a stream, by its name.
func (w *Watcher) sentBy(now int64) map[string][]string {
	out := map[string][]string{}
	for _, d := range w.senders {
		if name := d.m.Kin(now).Name; name != "" && !d.over.Load() && !slices.Contains(out[name], d.remote) {
			out[name] = append(out[name], d.remote)
		}
	}
	return out
}

// senderOf is who sends a stream whose frames these are seen to send, or did: nobody is known where
// several send the same film.
func (k *kinship) senderOf(all []string) string {
	switch {
	case len(all) == 1:
		return all[0]
	case len(all) > 1:
		return ""
	}
	return cmp.Or(k.known.Publisher, k.sender)
}
