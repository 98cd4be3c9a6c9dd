package load

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// Locals are this host's ends of the connections.
type Locals struct {
	Host  string
	Ports []uint64
	More  int // ports that are left out
}

// mostPorts are kept: whoever looks for the same connections at the other end finds them by the address
// as well.
const mostPorts = 1024

// add notes the local end of a connection. Where the kernel does not tell it, it is not kept.
func (l *Locals) add(fd int) {
	name, err := unix.Getsockname(fd)
	if err != nil {
		return
	}
	switch at := name.(type) {
	case *unix.SockaddrInet4:
		l.put(netip.AddrFrom4(at.Addr), at.Port)
	case *unix.SockaddrInet6:
		l.put(netip.AddrFrom16(at.Addr).Unmap(), at.Port)
	}
}

func (l *Locals) put(host netip.Addr, port int) {
	l.Host = host.String()
	if len(l.Ports) >= mostPorts {
		l.More++
		return
	}
	l.Ports = append(l.Ports, uint64(port))
}

// threadCPU is the CPU time that this thread has used, s.
func threadCPU() float64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
