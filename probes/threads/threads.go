// Package threads looks at the threads of the watched processes once a second:
// whether they run, wait or are stopped, in which kernel function and system
// call, on which descriptor, and how long they waited for a CPU. It needs no BPF.
package threads

import (
	"context"
	"os"
	"sort"
	"sync"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

// Probe is the probe of the watched processes' threads.
var Probe = probe.Probe{Name: name, Start: start}

const (
	name   = "threads"
	period = time.Second
	// coverageEach ticks the coverage is written, besides at the end.
	coverageEach = 5
	// mostThreads of one process are looked at, and mostAll in a tick: a thread
	// costs 40 µs a second when it ran and 13 µs when not (BenchmarkTick), and 200
	// bytes of recording.
	mostThreads = 256
	mostAll     = 512
)

type sampler struct {
	env    *probe.Env
	cancel context.CancelFunc
	done   sync.WaitGroup

	read   reader
	pipes  fullPipes
	turn   int // which process is looked at first
	looked uint64
	left   uint64 // threads that were not looked at, because there are too many
	since  recording.Time
	late   time.Duration
	cost   float64
}

func start(ctx context.Context, env *probe.Env) (probe.Running, error) {
	s := &sampler{env: env, read: reader{proc: env.Proc, accounted: delaysAccounted(env.Proc)}, since: env.Now(), pipes: newFullPipes(env.Proc, env.Netns)}
	ctx, s.cancel = context.WithCancel(ctx)
	s.done.Add(1)
	go s.run(ctx)
	return s, nil
}

// delaysAccounted reports whether the kernel accounts the delays of threads: off
// unless asked for since 5.14 (kernel.task_delayacct); before, it can't be told.
func delaysAccounted(proc string) bool {
	b, err := os.ReadFile(proc + "/sys/kernel/task_delayacct")
	return err == nil && len(b) > 0 && b[0] == '1'
}

func (s *sampler) run(ctx context.Context) {
	defer s.done.Done()
	var work probe.Work
	probe.Every(ctx, time.Duration(s.env.Ticks(1))*period, work.During(func(late time.Duration) {
		s.late = max(s.late, late)
		s.tick()
		s.cost = work.CPU()
		now := s.env.Now()
		labels := recording.Labels{"probe": name}
		s.env.Sink.Sample(now, "snag_probe_cpu_seconds_total", labels, s.cost)
		s.env.Sink.Sample(now, "snag_probe_late_seconds", labels, late.Seconds())
		if s.turn%coverageEach == 0 {
			s.coverage() // for a recording that is cut off
		}
	}))
	work.Begin()
	defer work.End()
	s.tick()
	s.cost = work.CPU()
}

// Stop implements probe.Running.
func (s *sampler) Stop() {
	s.cancel()
	s.done.Wait()
	s.coverage()
}

// tick looks at every watched process, another one first each time, so that the
// bound does not always fall on the same ones.
func (s *sampler) tick() {
	pids := s.env.Watch.PIDs()
	sort.Ints(pids)
	room := mostAll
	s.read.next()
	for i := range pids {
		pid := pids[(i+s.turn)%len(pids)]
		tids, all, err := s.read.tids(pid, min(mostThreads, room))
		s.read.state.note(err)
		if err != nil {
			continue // it ended: the host probe tells so
		}
		room -= len(tids)
		s.left += uint64(all - len(tids))
		var rows []recording.Thread
		for _, tid := range tids {
			t := s.env.Now()
			row, ok := s.read.thread(pid, tid)
			if !ok {
				continue
			}
			row.T = t
			s.looked++
			rows = append(rows, row)
		}
		owners(pid, rows, ReadMemory)
		for _, row := range rows {
			s.env.Sink.Append(row)
		}
		s.pipes.look(s.env, rows)
	}
	s.turn++
}
