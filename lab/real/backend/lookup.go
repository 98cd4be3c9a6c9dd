package backend

import (
	"syscall"
	"time"

	"snag/lab/drawn"
)

// Lookup is who a server asks before it lets a client in, or where a call goes. The
// family's faults of it are NAME-slow, NAME-errors and NAME-killed.
type Lookup struct {
	Name, Comm, Addr string
	Wait, Slow       time.Duration // an answer takes
	Statuses         []string      // of which an error answer has one
	Down             time.Duration // at least, where it is killed
}

// Start starts it, with the fault that is built.
func (l Lookup) Start(b *drawn.Bench, ns string) {
	args := []string{"--comm", l.Comm, "--listen", l.Addr, "--wait", l.Wait.String()}
	switch b.Fault.Name {
	case l.Name + "-slow":
		args = append(args, "--ill-wait", l.Slow.String())
		b.Amount("%v instead of %v for an answer of %s", l.Slow, l.Wait, l.Comm)
	case l.Name + "-errors":
		status := drawn.Pick(b.Draw, "the "+l.Name+"'s error", l.Statuses...)
		args = append(args, "--ill-status", status)
		b.Amount("%s answers %s", l.Comm, status)
	case l.Name + "-killed":
		b.AwaitPrinted(b.SupervisedActor(b.Fault.Name, ns, l.Comm, l.Down, 4*time.Second, "lookup-server", args), "ready")
		return
	}
	p := b.Actor(ns, l.Comm, "lookup-server", args[2:])
	b.AwaitPrinted(p, "ready")
	turn := func() { b.Signal(p, syscall.SIGUSR2) }
	b.Switch(l.Name+"-slow", turn, turn)
	b.Switch(l.Name+"-errors", turn, turn)
}
