package drawn

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab"
)

// Routed is a Net with a router between the clients' Ethernet and the server's path.
// Its device eth0 is the clients' link, wan0 the way to the server.
type Routed struct {
	Net
	Router  string // namespace
	Gateway string // its address on the clients' link
}

// RouterNet makes clients, a router and a server; half of the servers are 0.5 to 80 ms
// away. With relay they are always behind an actor with these flags, until Net.Break with
// its delay alone.
func (b *Bench) RouterNet(relay bool, flags ...string) Routed {
	n := Routed{Net: Net{Server: b.Netns("server"), Client: b.Netns("clients"), bench: b}, Router: b.Netns("router")}
	third := b.Int("network", 1, 200)
	n.Gateway, n.ClientAddr = fmt.Sprintf("10.77.%d.254", third), fmt.Sprintf("10.77.%d.2", third)
	n.Addr = fmt.Sprintf("10.78.%d.1", third)
	out := fmt.Sprintf("10.78.%d.254", third)
	b.Veth(lab.End{Netns: n.Client, Device: "eth0", Addr: n.ClientAddr + "/24"}, lab.End{Netns: n.Router, Device: "eth0", Addr: n.Gateway + "/24"})
	if b.Chance("far away", 0.5) {
		n.RTT = b.Duration("round trip", 500*time.Microsecond, 80*time.Millisecond)
	}
	if n.RTT == 0 && !relay {
		b.Veth(lab.End{Netns: n.Router, Device: "wan0", Addr: out + "/24"}, lab.End{Netns: n.Server, Device: "eth0", Addr: n.Addr + "/24"})
	} else {
		n.path = b.wanPath(n.Router+"/wan0/"+out+"/24", n.Server+"/eth0/"+n.Addr+"/24", n.RTT, flags)
	}
	b.Command(n.Router, "sysctl", "-qw", "net.ipv4.ip_forward=1")
	b.Command(n.Client, "ip", "route", "add", "default", "via", n.Gateway)
	b.Command(n.Server, "ip", "route", "add", "default", "via", out)
	return n
}

// wanPath starts the actor that is the path between two devices, left to right.
func (b *Bench) wanPath(left, right string, rtt time.Duration, flags []string) *lab.Process {
	args := append([]string{"--a", left, "--b", right, "--delay", (rtt / 2).String(), "--seed", fmt.Sprint(b.Seed), "--clean"}, flags...)
	p := b.Actor("", "wan-path", "tun-relay", args)
	b.AwaitPrinted(p, "ready")
	return p
}

// Cut ends what the path carries, for good.
func (n Net) Cut() {
	if n.path != nil {
		n.bench.Signal(n.path, syscall.SIGUSR1)
	}
}
