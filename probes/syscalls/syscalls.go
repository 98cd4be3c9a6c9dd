// Package syscalls is the probe of system calls: what the processes that it is
// pointed at call, how often, on which descriptor, for how long, and what comes of
// it, counted in the kernel by BPF programs at the raw tracepoints sys_enter and
// sys_exit. It attaches nothing while there is no process to look at, and ends when
// its budget is used up.
package syscalls

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/cilium/ebpf/ringbuf"

	"snag/internal/kernel"
	"snag/probes/probe"
	"snag/recording"
)

// Probe measures system calls.
var Probe = probe.Probe{Name: probeName, Start: start}

const (
	probeName = "syscalls"
	period    = time.Second
)

// running is the started probe. Only its loop touches the fields.
type running struct {
	env   *probe.Env
	began time.Time
	since recording.Time // when the rows of the present table were begun

	entries  map[string]uint32 // see options
	kernel   *loaded           // nil until there is a process to look at
	lack     *kernel.Lack
	failed   error // the first that failed
	notes    *ringbuf.Reader
	runtimes *runtimes
	busiest  float64 // what its programs took of the CPU of which they took most, as last measured
	targets  targets
	book     *book

	ever     bool           // something was looked at
	attached recording.Time // when it began, the first time
	stopped  string         // why it ended before its time
	folded   int            // rows taken together
	open     int            // calls that went on at the end
	long     int            // calls of a second and more that returned
	withheld int            // events of calls that went on that were left out
	late     time.Duration
	mark     float64 // of the thread's CPU time
	cost     float64 // of user space, s
	calls    uint64

	cancel context.CancelFunc
	done   chan struct{}
}

func start(ctx context.Context, env *probe.Env) (probe.Running, error) {
	return startWith(ctx, env, nil)
}

// startWith starts it with other sizes of its maps.
func startWith(ctx context.Context, env *probe.Env, entries map[string]uint32) (probe.Running, error) {
	r := &running{env: env, entries: entries, began: time.Now(), book: newBook(env), done: make(chan struct{})}
	ctx, r.cancel = context.WithCancel(ctx)
	r.announce()
	ready := make(chan struct{})
	go r.loop(ctx, ready)
	<-ready // what was asked for from the start is looked at when Start returns
	return r, nil
}

func (r *running) loop(ctx context.Context, ready chan struct{}) {
	defer close(r.done)
	r.charged(r.follow)
	close(ready)
	ticks := 0
	probe.Every(ctx, period, func(late time.Duration) {
		r.charged(func() {
			r.late = max(r.late, late)
			if ticks++; ticks > 1 { // the first comes at once
				r.tick(late, false)
			}
			r.measure(ctx)
			r.endInTime(ctx)
		})
	})
	r.charged(func() {
		r.tick(0, true)
		if r.kernel != nil {
			r.finish()
		}
	})
	r.announce()
}

// charged runs what charge counts the CPU time of: that of its thread, which is its own meanwhile.
func (r *running) charged(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r.mark = probe.ThreadCPU()
	f()
}

// Stop reads what is left, tells of the calls that still go on, and ends the probe.
func (r *running) Stop() {
	r.cancel()
	<-r.done
}

// wanted are the processes to look at.
func (r *running) wanted() []int {
	var out []int
	for _, pid := range r.env.Closer.PIDs() {
		if pid != r.env.SelfPID {
			out = append(out, pid)
		}
	}
	return out
}

// follow attaches when there is something to look at, detaches when there is not,
// and tells the kernel side of processes that are new.
func (r *running) follow() {
	pids := r.wanted()
	if r.stopped != "" || r.lack != nil || r.failed != nil {
		return
	}
	if len(pids) == 0 && !r.env.CloserAll {
		if r.kernel != nil && r.kernel.attached() {
			r.kernel.detach()
			r.targets = targets{full: r.targets.full}
		}
		return
	}
	if err := r.ensure(); err != nil {
		if !errors.As(err, &r.lack) {
			r.failed = err
		}
		return
	}
	if r.env.CloserAll {
		return
	}
	pids = r.targets.sync(r.kernel, pids, int64(nanotime()))
	// Those that were forked before the programs looked; and again, for those that
	// were forked while /proc was read.
	for range min(len(pids), 2) {
		more := descendants(r.env.Proc, pids)
		for _, pid := range more {
			r.targets.child(r.kernel, pid, int64(nanotime()))
		}
		pids = append(pids, more...)
	}
}

// ensure loads and attaches the programs.
func (r *running) ensure() error {
	if r.kernel != nil && r.kernel.attached() {
		return nil
	}
	defer func() {
		// Once, and not on the budget: it would end what has just begun.
		now := probe.ThreadCPU()
		r.cost += now - r.mark
		r.mark = now
	}()
	if r.kernel == nil {
		k, err := load(r.env.Proc, r.env.Sys, options{all: r.env.CloserAll, self: r.env.SelfPID, peek: r.env.Peek, entries: r.entries})
		if err != nil {
			return err
		}
		if r.notes, err = ringbuf.NewReader(k.objects.Notes); err != nil {
			k.close()
			return fmt.Errorf("read the BPF ring of system calls: %w", err)
		}
		r.kernel = k
		r.runtimes = newRuntimes(k.objects.EnterCall, k.objects.LeaveCall, k.objects.Forked, k.objects.Ended, k.objects.SubmitOp, k.objects.CompleteOp)
	}
	if err := r.kernel.attach(int64(nanotime())); err != nil {
		return err
	}
	r.since = r.env.Now()
	if !r.ever {
		r.ever, r.attached = true, r.since
	}
	return nil
}
