package verdict

import (
	"net/netip"
	"slices"

	"snag/recording"
	"snag/scene"
)

// Suspects whose cause may be on another host: whom a process waits for, and who sends a stream.
var (
	atWhomItAsks = []string{"slow-dependency", "upstream-refused"}
	atWhoSends   = []string{"encoder-stall", "publisher-sends-less", "uplink-throttled", "uplink-blackhole", "server-stall"}
)

// Beyond is the address of the other host, with its port where it is known, that a culprit's cause is at or behind; ""
// where the cause is on this host, or the recording is of several.
func (v *Verdict) Beyond(e Entry) string {
	sub := e.Subject
	if v.Scene == nil || len(v.Recording.Parts) > 0 || e.State != Culprit || scene.OnLoopback(sub.Remote) {
		return ""
	}
	if _, err := netip.ParseAddr(recording.Host(sub.Remote)); err != nil {
		return "" // no address, or a UNIX socket's
	}
	if v.ownAddress(recording.Host(sub.Remote)) {
		return "" // it may be in another namespace
	}
	k := v.Scene.SocketAt(sub.Netns, sub.Proto, sub.Local, sub.Remote)
	switch {
	case k != nil && k.Peer != nil: // so is its other end
		return ""
	case slices.Contains(atWhomItAsks, e.Suspect.Name):
		return sub.Remote
	case slices.Contains(atWhoSends, e.Suspect.Name) && (sub.PID == 0 || k != nil && receives(k)):
		return sub.Remote
	}
	return ""
}

// receives reports whether more comes in at a socket than goes out: this host gets the stream.
func receives(k *scene.Socket) bool {
	t := k.Last().TCP
	return t != nil && t.BytesReceived > t.BytesAcked
}

// ownAddress reports whether a socket of this host has an address.
func (v *Verdict) ownAddress(host string) bool {
	return slices.ContainsFunc(v.Scene.Sockets, func(k *scene.Socket) bool { return recording.Host(k.First().Local) == host })
}
