package anyserver

import (
	"path/filepath"

	"snag/lab"
	"snag/lab/drawn"
)

// Where a service may be that another one asks.
const (
	Neighbour = "on a neighbour"
	Here      = "here"
	Unix      = "at a UNIX socket"
)

// Place draws where a backend is that programs of the namespace host ask: one of those
// places, or of all. It returns its namespace and its address.
func Place(b *drawn.Bench, host string, among ...string) (ns, at string) {
	if len(among) == 0 {
		among = []string{Neighbour, Here, Unix}
	}
	switch drawn.Pick(b.Draw, "the backend is", among...) {
	case Neighbour:
		ns = b.Netns("db")
		b.Veth(lab.End{Netns: host, Device: "eth1", Addr: "10.78.5.1/24"}, lab.End{Netns: ns, Device: "eth0", Addr: "10.78.5.2/24"})
		return ns, "10.78.5.2:5432"
	case Here:
		return host, "127.0.0.1:5432"
	}
	return host, filepath.Join(b.Dir(), "database.sock")
}
