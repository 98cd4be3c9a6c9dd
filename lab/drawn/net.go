package drawn

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab"
)

// Net is a server's and a client's namespace with the path between them.
type Net struct {
	Server, Client string // namespaces
	Addr           string // the server's address, without a port
	ClientAddr     string
	RTT            time.Duration
	path           *lab.Process
	bench          *Bench
}

// At is the server's address with that port.
func (n Net) At(port int) string { return fmt.Sprintf("%s:%d", n.Addr, port) }

// Net makes a server's and a client's namespace. Half of them are neighbours on an
// Ethernet, the others are 0.5 to 80 ms apart.
func (b *Bench) Net() Net { return b.NetOver(false) }

// NetOver is Net; with relay it is always over an actor that can also lose, delay and
// reorder (tun-relay's flags), from the moment that Net.Break switches it.
func (b *Bench) NetOver(relay bool, flags ...string) Net {
	rtt := time.Duration(0)
	if b.Chance("far away", 0.5) {
		rtt = b.Duration("round trip", 500*time.Microsecond, 80*time.Millisecond)
	}
	return b.NetAway(rtt, relay, flags...)
}

// NetAway is NetOver with that round trip.
func (b *Bench) NetAway(rtt time.Duration, relay bool, flags ...string) Net {
	n := Net{Server: b.Netns("server"), Client: b.Netns("clients"), RTT: rtt, bench: b}
	b.rtt = rtt
	third := b.Int("network", 1, 200)
	n.Addr, n.ClientAddr = fmt.Sprintf("10.77.%d.1", third), fmt.Sprintf("10.77.%d.2", third)
	if n.RTT == 0 && !relay {
		b.Veth(lab.End{Netns: n.Server, Device: "eth0", Addr: n.Addr + "/24"}, lab.End{Netns: n.Client, Device: "eth0", Addr: n.ClientAddr + "/24"})
		return n
	}
	n.path = b.wanPath(n.Client+"/eth0/"+n.ClientAddr+"/24", n.Server+"/eth0/"+n.Addr+"/24", n.RTT, flags)
	return n
}

// Break switches the path between its delay alone and all that its flags say.
func (n Net) Break() {
	if n.path != nil {
		n.bench.Signal(n.path, syscall.SIGUSR2)
	}
}
