// Package nics is the live probe of network interfaces' hardware and of where
// the kernel works for them: driver, rings, channels, coalescing and features over
// ethtool netlink, the driver's own statistics, queues with their masks, interrupts
// and softirqs by CPU. It reads and changes nothing.
package nics

import (
	"context"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

// Probe is the probe of network interfaces.
var Probe = probe.Probe{Name: name, Start: start}

const (
	name   = "nics"
	period = time.Second
	// everyScan ticks what only a person changes is read, and everyInterrupts the
	// largest file: /proc/interrupts of 256 CPUs is 1 MB.
	everyScan       = 15
	everyInterrupts = 5
)

// sampler is the running probe, all on one goroutine that is locked to its
// thread: the thread's CPU time is the probe's cost.
type sampler struct {
	env    *probe.Env
	cancel context.CancelFunc
	done   chan struct{}
	ticks  int
	round  uint64

	ledger     *ledger
	settings   settings
	statistics statistics
	queues     queues
	interrupts interrupts
	softirqs   softirqs
}

func start(ctx context.Context, env *probe.Env) (probe.Running, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := newSampler(env)
	s.cancel = cancel
	go s.run(ctx)
	return s, nil
}

func newSampler(env *probe.Env) *sampler {
	l := newLedger(env)
	s := &sampler{
		env: env, done: make(chan struct{}), ledger: l,
		settings:   settings{env: env, ledger: l, last: map[device]recording.NIC{}},
		statistics: statistics{env: env, ledger: l, of: map[device]*counters{}},
		queues:     queues{env: env, ledger: l, last: map[queueKey]recording.Queue{}, irqs: map[irqKey]recording.IRQ{}},
		interrupts: interrupts{env: env, ledger: l, table: newTable(maxInterruptSeries)},
		softirqs:   softirqs{env: env, ledger: l, table: newTable(maxSoftirqSeries)},
	}
	env.Round.Next(&s.round)
	return s
}

// Stop takes the last measurement and ends the probe.
func (s *sampler) Stop() {
	s.cancel()
	<-s.done
}

func (s *sampler) run(ctx context.Context) {
	defer close(s.done)
	s.ledger.since = s.env.Now()
	probe.Every(ctx, period, s.ledger.work.During(func(late time.Duration) { s.tick(late, false) }))
	s.ledger.work.Begin()
	defer s.ledger.work.End()
	s.tick(0, true)
	s.statistics.close()
	s.ledger.write()
}

// tick measures once; last asks for everything.
func (s *sampler) tick(late time.Duration, last bool) {
	scan := last || s.ticks%everyScan == 0
	s.ledger.late(late)
	s.ledger.run("nics.softirqs", s.softirqs.measure)
	if last || s.ticks%everyInterrupts == 0 {
		s.ledger.run("nics.interrupts", s.interrupts.measure)
	}
	if scan {
		s.scan()
	} else {
		s.ledger.run("nics.statistics", s.statistics.own)
	}
	s.ticks++
	now, labels := s.env.Now(), recording.Labels{"probe": name}
	s.env.Sink.Sample(now, "snag_probe_late_seconds", labels, late.Seconds())
	s.env.Sink.Sample(now, "snag_probe_cpu_seconds_total", labels, s.ledger.cost())
	if scan {
		s.ledger.write() // for a recording that is cut off
	}
}

// scan reads how every interface is set, in each namespace, and its statistics
// while it is there: only the own namespace's are read each second.
func (s *sampler) scan() {
	if s.env.Round.Next(&s.round) {
		s.settings.again()
		s.queues.again()
	}
	spaces := s.namespaces()
	s.ledger.run("nics.settings", func(recording.Time) error { return s.settings.measure(spaces) })
	s.ledger.run("nics.statistics", func(recording.Time) error { return s.statistics.measure(spaces) })
	s.ledger.run("nics.queues", func(recording.Time) error {
		s.queues.unseen(spaces)
		return s.queues.measure(s.settings.ofOwn(), s.interrupts.names)
	})
}
