// Package host is the live probe of what the kernel already counts: protocol
// counters, queues, links, CPU, pressure, memory, disks, control groups, sysctls,
// processes and what its log says, in every network namespace. It reads /proc and /sys and asks rtnetlink; it
// changes nothing. Series, tables and facts are listed in docs/recording.md.
package host

import (
	"context"
	"fmt"
	"time"

	"snag/probes/probe"
)

// Probe is the host probe.
var Probe = probe.Probe{Name: "host", Start: start}

// Periods of the tiers. One second shows a burst of drops; what only a person
// changes (sysctls, addresses) is read every quarter minute and at both ends.
const (
	period     = time.Second
	everyRows  = 5  // ticks between full process scans
	everySlow  = 15 // ticks between sysctls, addresses, cgroup walks
	lateEnough = 500 * time.Millisecond
)

// prober is the running probe. All but Stop runs on one goroutine that is locked
// to its OS thread, so that the thread's CPU time is the probe's cost.
type prober struct {
	env    *probe.Env
	cancel context.CancelFunc
	done   chan struct{}

	meter     *meter
	machine   *machine
	spaces    *spaces
	processes *processes
	cgroups   *cgroups
	names     *containerNames
	sysctls   *sysctls
	memory    *memory
	disks     *disks
	log       *kernelLog
	libraries *libraries
	ticks     int
	round     uint64
}

func start(ctx context.Context, env *probe.Env) (probe.Running, error) {
	machine, err := newMachine(env)
	if err != nil {
		return nil, &probe.Unavailable{
			Why:  fmt.Sprintf("read %s: %v", env.Proc, err),
			Cure: "mount procfs there",
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	p := newProber(env, machine)
	p.cancel = cancel
	go p.run(ctx)
	return p, nil
}

func newProber(env *probe.Env, machine *machine) *prober {
	m := newMeter(env)
	for _, pid := range append([]int{env.Target.PID}, env.Target.PIDs...) {
		if pid > 0 {
			env.Watch.Add(pid, "the target")
		}
	}
	once := newNotices(env.Notice)
	mem := newMemory(env, m)
	return &prober{
		env: env, done: make(chan struct{}), meter: m,
		machine:   machine,
		spaces:    newSpaces(env, m, once),
		processes: newProcesses(env, m, machine),
		cgroups:   newCgroups(env, m, once),
		names:     newContainerNames(env),
		sysctls:   newSysctls(env, m),
		memory:    mem,
		disks:     newDisks(env, m, mem),
		log:       newKernelLog(env, m),
		libraries: newLibraries(env, m),
	}
}

// Stop takes the last measurement and ends the probe.
func (p *prober) Stop() {
	p.cancel()
	<-p.done
}

func (p *prober) run(ctx context.Context) {
	defer close(p.done)
	p.meter.since = p.env.Now()
	probe.Every(ctx, period, p.meter.work.During(func(late time.Duration) { p.tick(late, false) }))
	p.meter.work.Begin()
	defer p.meter.work.End()
	p.tick(0, true)
	p.processes.goingOn()
	p.spaces.close()
	p.log.close()
	p.cgroups.close()
	p.meter.writeCoverage()
}

// tick measures once. last asks for everything, whatever its tier.
func (p *prober) tick(late time.Duration, last bool) {
	first := p.ticks == 0
	all := first || last
	slow := all || p.ticks%p.env.Ticks(everySlow) == 0
	anew := p.env.Round.Next(&p.round)
	rows := all || anew || p.ticks%p.env.Ticks(everyRows) == 0
	p.ticks++

	p.meter.tick(late)
	p.spaces.refresh(rows)
	if anew {
		p.spaces.again()
	}
	p.spaces.measure(all, slow)
	p.machine.measure(p.meter)
	p.processes.measure(rows, last)
	if anew {
		p.processes.goingOn()
		p.cgroups.again()
		p.names.again()
	}
	p.memory.measure(rows, slow)
	p.disks.measure()
	p.log.measure()
	if rows {
		p.libraries.measure(p.processes.known)
	}
	p.names.look(time.Now())
	p.cgroups.measure(p.processes.groups(), slow)
	p.cgroups.resources(p.processes.watchedGroups(), slow)
	if slow {
		p.sysctls.measure(p.spaces)
		p.env.Sink.Append(p.cgroups.throttledRow())
		p.meter.writeCoverage() // so that a recording that is cut off has one
	}
	p.meter.writeCost()
}
