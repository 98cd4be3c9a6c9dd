package elimination

import (
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"snag/internal/netns"
	"snag/lab"
	"snag/lab/drawn"
	"snag/load/protocol"
)

// secure serves TLS, whose handshake takes so long.
func (b *Bench) secure(wait time.Duration) error {
	own, err := protocol.Certificate()
	if err != nil {
		return err
	}
	b.args = append(b.args, "--insecure")
	b.service.tls = &tls.Config{Certificates: []tls.Certificate{own}, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		time.Sleep(wait)
		return nil, nil // as it is
	}}
	return b.listen()
}

// deadAddress gives the name a second address, at which nobody is, nobody listens, or a filter drops all.
func deadAddress(b *Bench) error {
	b.by = apiName
	dead := fmt.Sprintf("10.78.%d.9", b.third)
	b.names = []string{b.addr, dead}
	b.near()
	switch drawn.Pick(b.Draw, "the other address", "nobody", "refuses", "filtered") {
	case "refuses":
		b.Command(b.server, "ip", "addr", "add", dead+"/24", "dev", "eth0")
	case "filtered":
		b.Command(b.server, "ip", "addr", "add", dead+"/24", "dev", "eth0")
		b.Nft(b.server, fmt.Sprintf("table inet lab {\n\tchain in {\n\t\ttype filter hook input priority 0\n\t\tip daddr %s drop\n\t}\n}\n", dead))
	}
	return b.listen()
}

// fullQueue has others connect more often than the service accepts, into a short queue.
func fullQueue(b *Bench) error {
	b.service.accept = b.Duration("between accepts", 30*time.Millisecond, 80*time.Millisecond)
	b.near()
	b.Command(b.server, "sysctl", "-qw", fmt.Sprintf("net.core.somaxconn=%d", b.Int("backlog", 1, 6)))
	if err := b.listen(); err != nil {
		return err
	}
	to := fmt.Sprintf("%s:%d", b.addr, port)
	every := time.Duration(float64(b.service.accept) / b.Uniform("others, of what is accepted", 1.2, 2))
	stop := make(chan struct{})
	b.closers = append(b.closers, func() error { close(stop); return nil })
	go others(b.client, to, every, stop)
	b.AwaitGrowth(b.server, "TcpExt", "ListenOverflows", 3)
	return b.Err()
}

// others connect again and again from that namespace.
func others(ns, to string, every time.Duration, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(every):
		}
		go func() {
			_ = netns.DoNamed(ns, func() error { // one that fails is what this is about
				c, err := net.DialTimeout("tcp4", to, 4*time.Second)
				if err == nil {
					_ = c.Close()
				}
				return err
			})
		}()
	}
}

// busyClient runs snag in a control group with others that use up its CPU time.
func busyClient(b *Bench) error {
	b.in = b.Cgroup("busy", b.LogUniform("of a CPU", 0.05, 0.1))
	b.near()
	b.AwaitPrinted(b.Actor("", "burner", "burner", []string{"--threads", fmt.Sprint(b.Int("others", 2, 4))}, lab.In(b.in)), "ready")
	return b.listen()
}
