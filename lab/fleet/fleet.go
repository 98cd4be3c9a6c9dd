// Package fleet makes a fleet of twelve hosts on a stage, each a network namespace with a snag record of
// its own, and a store that they send to; breaks something at one host; and marks what snag find --fleet names.
//
// Players ask a load balancer (haproxy), which asks six edges (nginx). Edges 1 to 3 ask origin-2, edges 4
// to 6 origin-3, a Java program that asks a database. An encoder publishes a live stream to origin-1
// (nginx-rtmp), which pushes it on to edge-1, where the players' host watches it. The database, the
// switch, a router before edge-6 and the store are no hosts of the fleet: nobody records them.
package fleet

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Role is what a host is for.
type Role string

// The roles.
const (
	Origin   Role = "origin"
	Edge     Role = "edge"
	Encoder  Role = "encoder"
	Players  Role = "players"
	Balancer Role = "balancer"
)

// Host is one of them.
type Host struct {
	Name, Addr string
	Role       Role
}

// Hosts of the fleet, all on one switch but edge-6, which is behind a router.
var Hosts = []Host{
	{"origin-1", "10.90.0.11", Origin}, {"origin-2", "10.90.0.12", Origin}, {"origin-3", "10.90.0.13", Origin},
	{"edge-1", "10.90.0.21", Edge}, {"edge-2", "10.90.0.22", Edge}, {"edge-3", "10.90.0.23", Edge},
	{"edge-4", "10.90.0.24", Edge}, {"edge-5", "10.90.0.25", Edge}, {"edge-6", "10.90.6.26", Edge},
	{"encoder", "10.90.0.31", Encoder}, {"players", "10.90.0.41", Players}, {"lb", "10.90.0.51", Balancer},
}

// Addresses of what is no host of the fleet.
const (
	monitor  = "10.90.0.61"
	database = "10.90.0.71:5432"
	router   = "10.90.0.2"
	behind   = "10.90.6.1" // the router's side of edge-6
)

// Fleet is the hosts with all that runs on them.
type Fleet struct {
	*lab.Stage
	*drawn.Draw
	Store *Store

	snag, thanos string
	procs        map[string]*lab.Process
	amount       string   // how much of the fault there is, for the report
	ended        []func() // what ends the fault's own programs
}

// addr is a host's address.
func addr(name string) string {
	for _, h := range Hosts {
		if h.Name == name {
			return h.Addr
		}
	}
	panic("lab: no host of the fleet is named " + name)
}

// network makes the namespaces and joins them.
func (f *Fleet) network() {
	var ends []lab.End
	for _, h := range Hosts {
		ns := f.Netns(h.Name)
		if h.Addr != addr("edge-6") {
			ends = append(ends, lab.End{Netns: ns, Device: "eth0", Addr: h.Addr + "/24"})
		}
	}
	for name, at := range map[string]string{"monitor": monitor, "db": "10.90.0.71", "router": router} {
		ends = append(ends, lab.End{Netns: f.Netns(name), Device: "eth0", Addr: at + "/24"})
	}
	f.Bridge(f.Netns("switch"), ends...)
	f.Veth(lab.End{Netns: f.Name("router"), Device: "eth1", Addr: behind + "/24"}, lab.End{Netns: f.Name("edge-6"), Device: "eth0", Addr: addr("edge-6") + "/24"})
	f.Command(f.Name("router"), "sysctl", "-qw", "net.ipv4.ip_forward=1")
	f.Command(f.Name("edge-6"), "ip", "route", "add", "default", "via", behind)
	for _, e := range ends {
		if e.Netns != f.Name("router") {
			f.Command(e.Netns, "ip", "route", "add", "10.90.6.0/24", "via", router)
		}
	}
}

// awaitListening waits for a TCP listener.
func (f *Fleet) awaitListening(ns, port string) {
	f.Await(fmt.Sprintf("port %s of %s", port, ns), 40*time.Second, f.Listens(f.Name(ns), ":"+port))
}

// run starts a program at a host and remembers it under a name.
func (f *Fleet) run(host, name string, argv []string, opts ...lab.Option) {
	f.procs[name] = f.Run(f.Name(host), name, argv, opts...)
}

// actor starts a program of lab/actor at a host.
func (f *Fleet) actor(host, comm, actor string, args ...string) *lab.Process {
	p := f.Actor(f.Name(host), comm, actor, args)
	f.procs[comm] = p
	return p
}
