package backend

import (
	"fmt"
	"syscall"

	"snag/lab"
	"snag/lab/drawn"
)

// Names is a name server that a server asks.
type Names struct {
	Addr string // without the port, which is 53
	p    *lab.Process
	b    *drawn.Bench
}

// StartNames starts a name server on a host of its own beside the server's; the flags say
// what Toggle switches on (name-server's).
func StartNames(b *drawn.Bench, server string, flags ...string) Names {
	n := Names{Addr: "10.78.8.2", b: b}
	ns := b.Netns("names")
	b.Veth(lab.End{Netns: server, Device: "eth2", Addr: "10.78.8.1/24"}, lab.End{Netns: ns, Device: "eth0", Addr: n.Addr + "/24"})
	n.p = b.Actor(ns, "name-server", "name-server", append([]string{"--listen", n.Addr + ":53"}, flags...))
	b.AwaitPrinted(n.p, "ready")
	return n
}

// Toggle switches the name server between well and what its flags say.
func (n Names) Toggle() { n.b.Signal(n.p, syscall.SIGUSR2) }

// Conf is the resolv.conf of those who ask it.
func (n Names) Conf() string { return fmt.Sprintf("nameserver %s\n", n.Addr) }

// NamesSubject matches the name server, by its name or its port.
const NamesSubject = `name-server|:53\b|resolver|DNS|dns`
