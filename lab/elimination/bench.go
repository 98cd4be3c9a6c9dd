// Package elimination makes situations in which a service is slow for one reason, or well, and sees what
// snag eliminate says of them. The sizes of each are drawn from a seed.
package elimination

import (
	"fmt"
	"net"
	"time"

	"snag/internal/netns"
	"snag/lab"
	"snag/lab/drawn"
)

// Bench is what a situation is built on: a server, a client, and what snag eliminate is given.
type Bench struct {
	*lab.Stage
	*drawn.Draw
	server, client string // namespaces
	addr           string // the server's
	third          int
	service        service
	datagrams      bool     // it is asked over UDP
	room           int      // of its UDP socket, bytes; 0: as the kernel has it
	by             string   // the name that is asked for; "": the address
	names          []string // its addresses
	lookup         time.Duration
	args           []string // of snag eliminate
	struck         []string // suspects that only a run on the server rules out; none: there is no such run
	in             *lab.Cgroup
	closers        []func() error
}

const (
	port    = 8080
	apiName = "api.lab.test"
)

// base draws what is innocent: a short path, a service that is fast enough.
func (b *Bench) base() {
	b.service.work = b.Duration("a request takes", 200*time.Microsecond, 4*time.Millisecond)
	b.service.size = b.Int("bytes of an answer", 100, 8000)
	b.third = b.Int("network", 1, 200)
	b.server, b.client = b.Netns("server"), b.Netns("client")
	b.addr = fmt.Sprintf("10.78.%d.1", b.third)
	if b.Chance("by name", 0.5) {
		b.by = apiName
	}
}

// near joins the two by a cable.
func (b *Bench) near() {
	b.Veth(lab.End{Netns: b.server, Device: "eth0", Addr: b.addr + "/24"}, lab.End{Netns: b.client, Device: "eth0", Addr: fmt.Sprintf("10.78.%d.2/24", b.third)})
}

// far joins them by a path with that round trip, and what the flags of tun-relay say.
func (b *Bench) far(rtt time.Duration, flags ...string) {
	args := append([]string{"--a", fmt.Sprintf("%s/wan0/10.78.%d.2/24", b.client, b.third), "--b", fmt.Sprintf("%s/wan0/%s/24", b.server, b.addr),
		"--delay", (rtt / 2).String(), "--seed", fmt.Sprint(b.Int("relay", 1, 1000))}, flags...)
	b.AwaitPrinted(b.Actor("", "path", "tun-relay", args), "ready")
}

// short is near or a little away, as drawn.
func (b *Bench) short() {
	if b.Chance("away", 0.4) {
		b.far(b.Duration("round trip", 300*time.Microsecond, 4*time.Millisecond))
		return
	}
	b.near()
}

// listen opens the service's port and the resolver's, and serves.
func (b *Bench) listen() error {
	if err := b.Err(); err != nil {
		return err
	}
	return netns.DoNamed(b.server, func() error {
		l, err := net.Listen("tcp4", fmt.Sprintf("%s:%d", b.addr, port))
		if err != nil {
			return err
		}
		b.closers = append(b.closers, l.Close)
		go b.service.serve(l)
		return b.resolve()
	})
}

// resolve opens the resolver's port, in this thread's namespace, where the service has a name.
func (b *Bench) resolve() error {
	if b.by == "" {
		return nil
	}
	c, err := net.ListenPacket("udp4", b.addr+":53")
	if err != nil {
		return err
	}
	b.closers = append(b.closers, c.Close)
	if b.names == nil {
		b.names = []string{b.addr}
	}
	go names(c, b.names, b.lookup)
	return nil
}

func (b *Bench) close() {
	for _, f := range b.closers {
		_ = f() // the namespace goes with the stage
	}
}

// url is what is asked for.
func (b *Bench) url() string {
	scheme, host, path := "http", b.addr, "/work"
	if b.datagrams {
		scheme, path = "udp", ""
	}
	if b.service.tls != nil {
		scheme = "https"
	}
	if b.by != "" {
		host = b.by
	}
	return fmt.Sprintf("%s://%s:%d%s", scheme, host, port, path)
}
