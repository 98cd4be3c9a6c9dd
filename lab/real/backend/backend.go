// Package backend has what servers of real software stand before: an upstream that they
// ask, and switches for what goes wrong inside of them.
package backend

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Shop is a WSGI program, which asks an upstream for each answer.
//
//go:embed shop.py
var Shop string

// Upstream is a service that a server asks for each of its answers.
type Upstream struct {
	Addr string // address:port
	Host string // the address alone
	p    *lab.Process
	b    *drawn.Bench
}

// Port of every upstream.
const Port = 9100

// Start starts an upstream that takes wait for an answer: in half of the draws on the
// server's host, otherwise on a neighbour's. The flags say what Toggle switches on
// (http-upstream's).
func Start(b *drawn.Bench, server string, wait time.Duration, flags ...string) Upstream {
	u := Upstream{Host: "127.0.0.1", b: b}
	ns := server
	if b.Chance("upstream on another host", 0.5) {
		ns, u.Host = b.Netns("upstream"), "10.78.9.2"
		b.Veth(lab.End{Netns: server, Device: "eth1", Addr: "10.78.9.1/24"}, lab.End{Netns: ns, Device: "eth0", Addr: u.Host + "/24"})
	}
	u.Addr = fmt.Sprintf("%s:%d", u.Host, Port)
	u.p = b.Actor(ns, "billing-api", "http-backend", append([]string{"--listen", u.Addr, "--wait", wait.String()}, flags...))
	b.AwaitPrinted(u.p, "ready")
	return u
}

// Toggle switches the upstream between well and what its flags say.
func (u Upstream) Toggle() { u.b.Signal(u.p, syscall.SIGUSR2) }

// Subject matches the upstream, by its name or its address.
const Subject = `billing-api|:9100`

// Flag is a file that a program looks for in each request: it does wrong while the file
// is there.
type Flag struct {
	Path string
	b    *drawn.Bench
}

// NewFlag names the file of a fault; it is not there yet.
func NewFlag(b *drawn.Bench) Flag { return Flag{filepath.Join(b.Dir(), "fault"), b} }

// On makes the file.
func (f Flag) On() { f.b.File("fault", "") }

// Off takes it away.
func (f Flag) Off() {
	if err := os.Remove(f.Path); err != nil && !os.IsNotExist(err) {
		f.b.Fail("the fault's end", err)
	}
}
