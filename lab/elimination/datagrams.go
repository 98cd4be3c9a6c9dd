package elimination

import (
	"fmt"
	"net"
	"time"

	"snag/internal/netns"
	"snag/lab"
)

// overUDP is a service that answers datagrams; open: somebody listens.
func (b *Bench) overUDP(open bool) error {
	b.datagrams = true
	if err := b.Err(); err != nil {
		return err
	}
	return netns.DoNamed(b.server, func() error {
		if !open {
			return b.resolve()
		}
		c, err := net.ListenPacket("udp4", fmt.Sprintf("%s:%d", b.addr, port))
		if err != nil {
			return err
		}
		b.closers = append(b.closers, c.Close)
		if udp, ok := c.(*net.UDPConn); ok && b.room > 0 {
			if err := udp.SetReadBuffer(b.room); err != nil {
				return err
			}
		}
		go sendBack(c, b.service.work+b.service.all)
		return b.resolve()
	})
}

// sendBack sends each datagram back, one after the other.
func sendBack(c net.PacketConn, work time.Duration) {
	buf := make([]byte, 1<<16)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return // it was closed
		}
		time.Sleep(work)
		if _, err := c.WriteTo(buf[:n], from); err != nil {
			return
		}
	}
}

// overDatagrams are what can be wrong with a service over UDP, and one in which all is well.
var overDatagrams = []Situation{
	{"udp-closed-port", []string{"closed-port"}, nil, func(b *Bench) error {
		b.short()
		return b.overUDP(false)
	}},
	{"udp-small-buffer", []string{"receive-buffer"}, nil, func(b *Bench) error {
		b.service.work = b.Duration("a datagram takes", 300*time.Microsecond, time.Millisecond)
		b.room = b.Int("bytes of the receive buffer", 1, 6000) // the kernel doubles it, and has 2,304 at the least
		b.short()
		return b.overUDP(true)
	}},
	{"udp-slow-service", []string{"service"}, nil, func(b *Bench) error {
		b.service.all = b.Duration("every datagram takes", 25*time.Millisecond, 80*time.Millisecond)
		b.short()
		return b.overUDP(true)
	}},
	{"udp-lossy-path", []string{"packet-loss"}, nil, func(b *Bench) error {
		b.by, b.service.work = "", 0 // lookups would be lost on the way as well
		b.far(b.Duration("round trip", 500*time.Microsecond, 20*time.Millisecond), "--loss", fmt.Sprint(b.LogUniform("lost", 0.04, 0.15)))
		return b.overUDP(true)
	}},
	{"udp-pmtu-blackhole", []string{"large-datagrams"}, nil, func(b *Bench) error {
		b.service.work = 0
		b.far(b.Duration("round trip", 300*time.Microsecond, 20*time.Millisecond), "--max-size", fmt.Sprint(b.Int("bytes that pass", 620, 1450)))
		return b.overUDP(true)
	}},
	{"udp-fragments", []string{"fragments"}, []lab.Tool{lab.NFT}, func(b *Bench) error {
		b.service.work = b.Duration("a datagram takes", 10*time.Microsecond, 300*time.Microsecond)
		b.short()
		// Before the kernel puts them together (the priority of defragmentation is -400).
		b.Nft(b.server, "table inet lab {\n\tchain in {\n\t\ttype filter hook prerouting priority -450\n\t\tip frag-off & 0x3fff != 0 drop\n\t}\n}\n")
		return b.overUDP(true)
	}},
	{"udp-far-without-echo", []string{"path-length"}, []lab.Tool{lab.NFT}, func(b *Bench) error {
		// Nothing shows the round trip, so that the client alone cannot tell the path from the service.
		b.struck = []string{"handler", "service"}
		b.by, b.service.work = "", b.Duration("a datagram takes", 10*time.Microsecond, 300*time.Microsecond)
		b.far(b.slow("long round trip"))
		b.Nft(b.server, "table inet lab {\n\tchain in {\n\t\ttype filter hook input priority 0\n\t\ticmp type echo-request drop\n\t}\n}\n")
		return b.overUDP(true)
	}},
	{"udp-well", nil, nil, func(b *Bench) error {
		b.service.work = b.Duration("a datagram takes", 10*time.Microsecond, 300*time.Microsecond)
		b.near()
		return b.overUDP(true)
	}},
}
