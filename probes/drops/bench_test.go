package drops

import (
	"net"
	"os"
	"testing"
)

// BenchmarkDrop sends datagrams over loopback to a port nobody has, each of them
// one drop: without the probe, counted only, and with a stack for every drop.
// The differences are what a drop costs; compare within one run.
func BenchmarkDrop(b *testing.B) {
	for _, c := range []struct {
		name   string
		probe  bool
		stacks uint32
	}{{"bare", false, 0}, {"counted", true, 0}, {"first-8-stacks", true, stacksEach}} {
		b.Run(c.name, func(b *testing.B) { benchDrop(b, c.probe, c.stacks, 1) })
	}
	// A new kind of drop each time (other ports), each with its stack.
	for _, c := range []struct {
		name   string
		probe  bool
		stacks uint32
	}{{"new-kind-bare", false, 0}, {"new-kind-counted", true, 0}, {"new-kind-stack", true, 1 << 31}} {
		b.Run(c.name, func(b *testing.B) { benchDrop(b, c.probe, c.stacks, 6000) })
	}
}

func benchDrop(b *testing.B, on bool, stacks uint32, ports int) {
	if os.Geteuid() != 0 {
		b.Skip("counting drops needs root")
	}
	var s *sweeper
	if on {
		l, err := load(stacks)
		if err != nil {
			b.Skip(err)
		}
		defer l.close()
		s = newSweeper(l)
	}
	// Not connected: a connected sender would get every second one refused.
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	payload := make([]byte, 100)
	to := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}
	i := 0
	for b.Loop() {
		if i%ports == 0 && ports > 1 && s != nil {
			b.StopTimer()
			if _, err := s.sweep(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		to.Port = 1 + i%ports // low ports: no socket has them
		if ports == 1 {
			to.Port = 9
		}
		i++
		if _, err := c.WriteToUDP(payload, to); err != nil {
			b.Fatal(err)
		}
	}
}
