package drawn

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"snag/lab"
)

// SwitchStops has a process stopped and let go again and again while the fault of that
// name is on: by SIGSTOP, for a time that is drawn between the two.
func (b *Bench) SwitchStops(fault string, pid int, shortest, longest time.Duration) {
	stop := b.Duration(fault+": stopped for", shortest, longest)
	run := b.Duration(fault+": goes on for", 400*time.Millisecond, 4*time.Second)
	if b.Fault.Name == fault {
		b.Amount("stopped for %v, again after %v", stop, run)
	}
	var script *lab.Process
	b.Switch(fault, func() {
		script = b.Actor("", "freeze-script", "stopper", []string{"--pid", fmt.Sprint(pid), "--stop", stop.String(), "--run", run.String()}, lab.MayEnd())
	}, func() {
		b.Stop(script)
		_ = syscall.Kill(pid, syscall.SIGCONT) // it may be gone
	})
}

// Supervised starts a program under a supervisor that starts it again when it has ended.
// While the fault of that name is on, the program is killed, away for a time that is drawn
// between the two, and killed again later.
func (b *Bench) Supervised(fault, ns, name string, shortest, longest time.Duration, argv []string) *lab.Process {
	away := b.Duration(fault+": away for", shortest, longest)
	lives := b.Duration(fault+": lives for", time.Second, 5*time.Second)
	if b.Fault.Name == fault {
		b.Amount("killed, away for %v, killed again after %v", away, lives)
	}
	p := b.Actor(ns, "supervisor", "supervisor", append([]string{"--away", away.String(), "--lives", lives.String(), "--"}, argv...))
	p.Name = name
	turn := func() { b.Signal(p, syscall.SIGUSR2) }
	b.Switch(fault, turn, turn)
	return p
}

// SupervisedActor is Supervised for an actor, whose arguments name its process as well
// (--comm).
func (b *Bench) SupervisedActor(fault, ns, name string, shortest, longest time.Duration, actor string, args []string) *lab.Process {
	self, err := os.Executable()
	if err != nil {
		return b.Fail(name, err)
	}
	return b.Supervised(fault, ns, name, shortest, longest, append([]string{self, lab.ActorCommand, actor}, args...))
}
