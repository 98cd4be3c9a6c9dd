package drawn

import (
	"fmt"

	"snag/lab"
)

// Origin reports who chose what a family is made of.
type Origin string

// The origins. Lab families have programs of the lab, and faults of the catalogue, whose
// suspects were written by the same authors. Real families have software, clients and
// faults of the field. Healthy families have no fault: nobody may be accused.
const (
	Lab     Origin = "lab"
	Real    Origin = "real"
	Healthy Origin = "healthy"
)

// Kind is what sort of service a family is, for the tables.
type Kind string

// The kinds of real software, and those of the lab's families.
const (
	Database    Kind = "database"
	Cache       Kind = "cache"
	Proxy       Kind = "proxy"
	Processes   Kind = "app, processes"
	Threads     Kind = "app, threads"
	EventLoop   Kind = "app, event loop"
	JVM         Kind = "JVM"
	Broker      Kind = "broker"
	DNS         Kind = "DNS"
	Media       Kind = "SIP and media"
	RPC         Kind = "RPC"
	Directory   Kind = "directory"
	Mail        Kind = "mail"
	Files       Kind = "files"
	Packets     Kind = "packets"
	Connections Kind = "connections"
	Inside      Kind = "inside a process"
	Host        Kind = "host"
	Streams     Kind = "streams"
	Noise       Kind = "noise"
)

// Place is where on its way a stream is held up.
type Place string

// The places.
const (
	AtEncoder Place = "encoder"
	OnUplink  Place = "uplink" // of all encoders
	AtServer  Place = "server"
	AtReader  Place = "reader" // one of several
)

// Fault is one thing that can go wrong in a family, with the truth of it.
type Fault struct {
	Name string
	// Suspects of the catalogue of which any is right. A name that the catalogue has not
	// yet stands for a cause that snag can't name today.
	Suspects []string
	// Subject is a regular expression that a right culprit's subject must match.
	Subject string
	// Also may be named besides without being wrong: what the fault brings with it.
	Also []string
	// Account of the ledger to which the waiting belongs (path, loss, queue, window,
	// nagle, accept queue, unread, work, spin, cpu, quota, steal, stopped, pause, lock,
	// disk, memory, pipe, sleep, call, write, parked, in line, errors).
	Account string
	// Whole: it is built in, or can't be taken back, and lasts the whole window.
	Whole bool
	// Inside: who did it can be seen only as it happens, so that it begins inside the window.
	Inside bool
	// Place of a stream's fault.
	Place Place
}

// Family is a service with its clients, in sizes that are drawn.
type Family struct {
	Name     string
	Kind     Kind
	Origin   Origin
	Software []string // with the names that their users have for them
	Needs    []lab.Tool
	// Alone: it changes what the whole machine does (its CPUs, its memory, its disk), so
	// that no other family may run beside it.
	Alone bool
	// Faults of which a draw picks one; none in a healthy family.
	Faults []Fault
	// Noisy: a healthy family whose clients might notice what is done beside them. It is
	// done only where Bench.Noise says so, and each draw also has a run without it, which
	// the referee compares: noise that clients notice is not healthy.
	Noisy bool
	// Build makes namespaces, service and clients, registers the clients' logs
	// (Bench.Watch), and says how the picked fault is switched (Bench.Switch), or builds
	// it in (Bench.Built). All else is the same in both runs.
	Build func(*Bench)
}

// FaultNamed returns the fault of that name.
func (f Family) FaultNamed(name string) (Fault, error) {
	for _, x := range f.Faults {
		if x.Name == name {
			return x, nil
		}
	}
	return Fault{}, fmt.Errorf("the family %s has no fault %q", f.Name, name)
}

// Find returns the family of that name.
func Find(families []Family, name string) (Family, error) {
	for _, f := range families {
		if f.Name == name {
			return f, nil
		}
	}
	return Family{}, fmt.Errorf("no family named %q: snag-lab drawn list prints them", name)
}
