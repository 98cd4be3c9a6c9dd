// Package offcpu measures the time that threads of a few processes spend off the
// CPU: what they wait for, with the stacks of the kernel and of the process, how long,
// who wakes them, how long they then wait for a CPU, and which locks they wait for
// and who holds those. It attaches nothing until a process deserves that look
// (probe.Env.Closer).
package offcpu

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/internal/unwind"
	"snag/probes/probe"
	"snag/probes/symbols"
	"snag/probes/threads"
	"snag/recording"
)

// Probe is the probe of time off the CPU and of locks.
var Probe = probe.Probe{Name: name, Start: start}

const (
	name = "offcpu"
	// period between two looks at locks that are waited for, and how many looks make a
	// second, in which rows are written.
	period     = 100 * time.Millisecond
	looksEach  = 10
	coverEach  = 5 // seconds
	costWhile  = 40 * time.Millisecond
	mostWaits  = 1024 // rows per second
	mostLocks  = 128  // rows per second of each kind
	mostEvents = 100  // per second
)

type running struct {
	env    *probe.Env
	cancel context.CancelFunc
	done   sync.WaitGroup

	k      *inKernel // nil until a process is looked at
	names  *symbols.Resolver
	stacks *stacks // of those that wait
	wakers *stacks // of those that wake them
	closer map[int]bool
	jammed bool // some lock was waited for in the last second
	owners map[lockID]*holding
	before []hand // of the last second, which began at had, ns
	had    uint64
	homes  map[uint32]map[uint32]parked // of each process' lock without a word, its waiters
	effort effort
	took   []time.Duration // of each CPU by the programs, at tookAt
	tookAt time.Time

	began recording.Time
	since recording.Time // the first process was looked at
	from  uint64         // the second began, ns of CLOCK_MONOTONIC
	looks int
	// nextLook at locks: not before.
	nextLook time.Time
	ticks    int
	late     time.Duration
	cost     float64 // CPU s of this side
	charge   float64 // of it what was charged to the budget, or was paid once to load the programs
	inside   float64 // CPU s that the programs ran, estimated
	rate     float64 // of them, CPU seconds per second
	left     left
	lost     [lostMax]uint64 // of the kernel's side
	over     bool            // the budget was spent, and it ended
	failed   error
	world    world
	locals   locals
}

// left is what this side left out.
type left struct {
	waits, locks, events uint64
	threshold            time.Duration // the highest that was used
	rate                 uint32        // the lowest
	unmeasured           error         // why the programs' cost is not known
	unseeded             error
	refused              error // of reading locks' words
}

func start(ctx context.Context, env *probe.Env) (probe.Running, error) {
	r := &running{
		env: env, began: env.Now(), closer: map[int]bool{}, owners: map[lockID]*holding{},
		effort: effort{Threshold: leastThreshold, Rate: fullRate}, names: symbols.New(env.Proc), locals: locals{proc: env.Proc},
	}
	r.left.threshold, r.left.rate = r.effort.Threshold, r.effort.Rate
	ctx, r.cancel = context.WithCancel(ctx)
	r.done.Add(1)
	go r.run(ctx)
	return r, nil
}

func (r *running) run(ctx context.Context) {
	defer r.done.Done()
	var work probe.Work
	probe.EveryAdaptive(ctx, r.pause, work.During(func(late time.Duration) {
		if r.k != nil {
			r.late = max(r.late, late)
		}
		r.looks++
		r.watchCost()
		r.mend()
		if r.looks%looksEach != 1 && len(r.closer) > 0 {
			r.lookAtLocks()
			return
		}
		r.tick(false)
		r.cost = work.CPU()
		r.pay()
		r.ticks++
		if r.ticks%coverEach == 0 {
			r.coverage() // for a recording that is cut off
		}
	}))
	work.Begin()
	defer work.End()
	r.tick(true)
	r.cost = work.CPU()
	r.pay()
}

// pause is until the next look at locks, or, where nobody is looked at, at who is to be.
func (r *running) pause() time.Duration {
	if len(r.closer) == 0 {
		return looksEach * period
	}
	return period
}

// Stop implements probe.Running.
func (r *running) Stop() {
	r.cancel()
	r.done.Wait()
	r.coverage()
	if r.k != nil {
		r.k.close()
	}
	r.names.Close()
}

// tick ends a second: it writes what was counted, and looks who is to be looked at.
func (r *running) tick(last bool) {
	if r.failed != nil || r.over {
		return
	}
	if err := r.second(last); err != nil {
		r.failed = err
		return
	}
	if !last {
		r.failed = r.follow()
	}
}

// follow looks at the processes that deserve it, and at no others.
func (r *running) follow() error {
	var now []int
	for _, pid := range r.env.Closer.PIDs() {
		if pid != r.env.SelfPID && alive(r.env.Proc, pid) {
			now = append(now, pid)
		}
	}
	add, drop := change(now, r.closer)
	if len(add) > 0 && r.k == nil {
		// Once, and not on the budget: it would end what has just begun.
		defer func(began float64) { r.charge += probe.ThreadCPU() - began }(probe.ThreadCPU())
		k, err := load(r.env.Proc, r.env.Sys)
		if err != nil {
			return err
		}
		r.k = k
		left, wakers := k.sources()
		r.stacks, r.wakers = r.newStacks(left), r.newStacks(wakers)
		r.since, r.from = r.env.Now(), monotonic()
		r.world = world{memory: r.memory, thread: r.thread, host: r.locals.host}
		if err := r.k.objects.EpochAt.Set(r.from); err != nil {
			return err
		}
	}
	if r.k == nil {
		return nil
	}
	if err := r.k.watch(add, drop); err != nil {
		return err
	}
	for _, pid := range add {
		r.closer[pid] = true
		if err := r.k.seed(r.env.Proc, pid, monotonic()); err != nil && alive(r.env.Proc, pid) {
			r.left.unseeded = err
		}
	}
	for _, pid := range drop {
		delete(r.closer, pid)
	}
	return nil
}

func (r *running) newStacks(from source) *stacks {
	return &stacks{from: from, names: r.names, table: r.env.Stacks, ids: map[pair]int{}, functions: map[int32][]string{}, mended: map[topKey]unwind.Walk{}}
}

func alive(proc string, pid int) bool {
	_, err := os.Stat(proc + "/" + strconv.Itoa(pid))
	return err == nil
}

func monotonic() uint64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // exists on every kernel
	return uint64(ts.Nano())
}

// pay charges what the last second cost to the budget, and takes less or ends where
// that was too much.
func (r *running) pay() {
	r.env.Budget.Charge(name, r.cost-r.charge)
	r.charge = r.cost
	if r.k == nil || r.over {
		return
	}
	r.env.Budget.Charge(name, r.rate)
	r.inside += r.rate
	labels := recording.Labels{"probe": name}
	now := r.env.Now()
	r.env.Sink.Sample(now, "snag_probe_cpu_seconds_total", labels, r.cost)
	r.env.Sink.Sample(now, "snag_probe_kernel_cpu_seconds_total", labels, r.inside)
	may := ownShare * r.env.Budget.Share() * float64(runtime.NumCPU())
	next := r.effort.adapt(r.rate, may)
	if r.env.Budget.Over(now.Sub(r.began).Seconds()) {
		less, ok := r.effort.less()
		if r.rate > may {
			less = least // what is over does not grow by much
		}
		if !ok {
			r.end()
			return
		}
		next = less
	}
	r.take(next)
}

// end ends it before the recording does.
func (r *running) end() {
	r.over = true
	r.lost = r.k.lost()
	r.k.close()
	r.k = nil
}

// take sets how much is taken from now on.
func (r *running) take(e effort) {
	if e != r.effort {
		r.effort = e
		r.left.threshold, r.left.rate = max(r.left.threshold, e.Threshold), min(r.left.rate, e.Rate)
		r.failed = r.k.set(e)
	}
}

// watchCost looks between two seconds what the programs take of each CPU. Where that is
// far too much, a second would be too late.
func (r *running) watchCost() {
	if r.k == nil || r.failed != nil || r.env.Budget.Share() <= 0 {
		return
	}
	took, err := kernel.Spent(r.k.objects.Spent, name)
	if err != nil {
		r.left.unmeasured = err
		return
	}
	now, busiest := time.Now(), 0.0
	for i, d := range took {
		if i < len(r.took) {
			busiest = max(busiest, (d-r.took[i]).Seconds()/now.Sub(r.tookAt).Seconds())
		}
	}
	r.took, r.tookAt = took, now
	r.env.Budget.Took(name, took)
	next, ok := r.effort.hurry(busiest, r.env.Budget.Share(), r.env.Budget.Over(r.env.Now().Sub(r.began).Seconds()))
	if ok {
		r.take(next)
		return
	}
	if err := r.second(true); err != nil { // what was counted is kept
		r.failed = err
	}
	r.end()
}

// mend walks the stacks whose tops were handed over, while their processes are there.
func (r *running) mend() {
	if r.k == nil || r.failed != nil {
		return
	}
	r.failed = r.k.readTops(func(t top) {
		s := r.stacks
		if t.wakers {
			s = r.wakers
		}
		s.mend(t)
	})
}

// looksShare is what the looks between two seconds may take of a CPU: those at thousands
// of threads come less often.
const looksShare = 0.01

// lookAtLocks sees who holds the locks that several threads wait for now.
func (r *running) lookAtLocks() {
	if r.k == nil || !r.jammed || r.failed != nil || time.Now().Before(r.nextLook) {
		return
	}
	before := probe.ThreadCPU()
	all, err := r.k.all()
	if err != nil {
		r.failed = err
		return
	}
	r.lookAtOwners(all)
	r.nextLook = time.Now().Add(time.Duration((probe.ThreadCPU() - before) / looksShare * 1e9))
}

func (r *running) lookAtOwners(all map[uint32]kernelThread) {
	for _, id := range jams(all, nrFutex) {
		h, ok := r.world.owner(id)
		if !ok {
			continue
		}
		if h.comm == "" {
			h.comm = r.comm(h.tid)
		}
		if r.owners[id] == nil {
			r.owners[id] = &holding{}
		}
		r.owners[id].add(h)
	}
}

const nrFutex = int32(unix.SYS_FUTEX)

func (r *running) memory(pid int, address uint64, b []byte) error {
	err := threads.ReadMemory(pid, address, b)
	if err != nil && r.left.refused == nil && alive(r.env.Proc, pid) {
		r.left.refused = fmt.Errorf("read a lock's word of process %d: %w", pid, err)
	}
	return err
}

func (r *running) thread(tid uint32) (t kernelThread, ok bool) {
	return t, r.k.objects.Threads.Lookup(tid, &t) == nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (r *running) comm(tid uint32) string {
	b, err := os.ReadFile(fmt.Sprintf("%s/%d/comm", r.env.Proc, tid))
	if err != nil {
		return ""
	}
	return string(b[:max(0, len(b)-1)])
}
