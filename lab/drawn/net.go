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
	n := Net{Server: b.Netns("server"), Client: b.Netns("clients"), bench: b}
	third := b.Int("network", 1, 200)
	n.Addr, n.ClientAddr = fmt.Sprintf("10.77.%d.1", third), fmt.Sprintf("10.77.%d.2", third)
	if b.Chance("far away", 0.5) {
		n.RTT = b.Duration("round trip", 500*time.Microsecond, 80*time.Millisecond)
	}
	if n.RTT == 0 && !relay {
		b.Veth(lab.End{Netns: n.Server, Device: "eth0", Addr: n.Addr + "/24"}, lab.End{Netns: n.Client, Device: "eth0", Addr: n.ClientAddr + "/24"})
		return n
	}
	args := append([]string{"--a", n.Client + "/eth0/" + n.ClientAddr + "/24", "--b", n.Server + "/eth0/" + n.Addr + "/24",
		"--delay", (n.RTT / 2).String(), "--seed", fmt.Sprint(b.Seed), "--clean"}, flags...)
	n.path = b.Actor("", "wan-path", "tun-relay", args)
	b.AwaitPrinted(n.path, "ready")
	return n
}

// Break switches the path between its delay alone and all that its flags say.
func (n Net) Break() {
	if n.path != nil {
		n.bench.Signal(n.path, syscall.SIGUSR2)
	}
}
