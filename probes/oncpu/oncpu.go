// Package oncpu samples what runs on each CPU: by thread, with the kernel's and the
// process' own stack. The kernel side (oncpu.bpf.c) counts; this side reads the
// counts once a second, and gives the stacks that weigh most their names.
package oncpu

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"snag/internal/kernel"
	"snag/probes/probe"
	"snag/probes/symbols"
	"snag/recording"
)

// Probe is the probe of the time on the CPUs.
var Probe = probe.Probe{Name: name, Start: start}

const (
	name   = "oncpu"
	period = time.Second
	// hz samples per second and CPU: not 100, so as not to run in step with what the
	// kernel and programs do each 10 ms.
	hz = 99
	// hzAlways is used where it samples for days.
	hzAlways = 29
	// A flush each so many periods: names cost more than counts, and stacks that
	// are seen once need none. Where all are wanted it may wait for what names them:
	// a runtime's map of its code.
	flushEach      = 10
	flushEachWhole = 60
	coverageEach   = 5
)

// Bounds of one flush where the profile is not all that is wanted: the heaviest
// stacks hold most of the samples.
const (
	mostNamed  = 150
	leastTimes = 2
	// mostHeld processes that are new are looked at in one period: a storm of short
	// ones must not take the CPU that it leaves.
	mostHeld = 100
)

type running struct {
	env    *probe.Env
	cancel context.CancelFunc
	done   sync.WaitGroup

	l     *loaded
	sweep *sweeper
	tally *tally
	names *symbols.Resolver

	// copied are the samples of this period whose stacks were walked here.
	copied map[copiedKey]counted

	since   recording.Time // the probe began
	last    recording.Time // the last reading
	before  [totalMax]uint64
	ticks   int
	late    time.Duration
	cost    float64
	failed  error
	held    int     // new processes of this period
	unheld  uint64  // new processes that were not looked at
	noRoom  uint64  // stacks beyond the bound
	quality quality // of the samples that were written
	light   float64 // samples whose stack was too light to be named
	missing float64 // samples whose stack could not be taken or was lost
}

type copiedKey struct {
	kind
	tid int
}

func start(ctx context.Context, env *probe.Env) (probe.Running, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := probe.ThreadCPU()
	if lack := kernel.CanLoad(env.Proc, env.Sys); lack != nil {
		return nil, unavailable(lack)
	}
	var only []int
	if env.Whole {
		only = env.Target.PIDs
	}
	l, err := load(env.Proc, env.Sys, uint64(rate(env)), only, env.Unwind)
	if err != nil {
		return nil, unavailable(err)
	}
	s, err := newSweeper(l)
	if err != nil {
		l.close()
		return nil, err
	}
	tables := symbols.TablesLean
	if env.Whole {
		tables = symbols.TablesWhole
	}
	r := &running{env: env, l: l, sweep: s, tally: newTally(env.Continuous), names: symbols.NewBounded(env.Proc, tables), copied: map[copiedKey]counted{}, since: env.Now()}
	if env.Inlined {
		r.names.ShowInlined()
	}
	r.last = r.since
	r.cost = probe.ThreadCPU() - began
	r.coverage()
	ctx, r.cancel = context.WithCancel(ctx)
	r.done.Add(1)
	go r.run(ctx)
	return r, nil
}

func unavailable(err error) error {
	var lack *kernel.Lack
	if errors.As(err, &lack) {
		u := probe.Unavailable(*lack)
		return &u
	}
	return err
}

func (r *running) run(ctx context.Context) {
	defer r.done.Done()
	runtime.LockOSThread() // its CPU time is the probe's
	defer runtime.UnlockOSThread()
	began, before := probe.ThreadCPU(), r.cost
	spent := func() { r.cost = before + probe.ThreadCPU() - began }
	wake := context.AfterFunc(ctx, func() { _ = r.sweep.ring.Flush() }) // closed meanwhile: it wakes as well
	defer wake()
	next := time.Now().Add(period)
	for ctx.Err() == nil {
		if err := r.sweep.stacks(next, r.take); err != nil {
			r.failed = err
			break
		}
		if ctx.Err() != nil {
			break
		}
		late := max(time.Since(next), 0)
		r.late = max(r.late, late)
		next = next.Add(period + late.Truncate(period))
		r.tick(true)
		spent()
		r.tell(late)
	}
	// The map in use and, after it, what was counted while it was swapped.
	r.l.detach()
	for range 2 {
		r.tick(false)
	}
	r.flush()
	spent()
	r.tell(0)
}

// tell samples the observer's own cost, and what the samples were of.
func (r *running) tell(late time.Duration) {
	now := r.env.Now()
	labels := recording.Labels{"probe": name}
	r.env.Sink.Sample(now, "snag_probe_cpu_seconds_total", labels, r.cost)
	r.env.Sink.Sample(now, "snag_probe_late_seconds", labels, late.Seconds())
	r.env.Sink.Sample(now, "snag_probe_kernel_cpu_seconds_total", labels, r.kernelSeconds())
	for what, i := range map[string]int{"all": totalAll, "idle": totalIdle, "others": totalOthers} {
		r.env.Sink.Sample(now, "snag_oncpu_samples_total", recording.Labels{"what": what}, float64(r.sweep.totals[i]))
	}
	if r.ticks%coverageEach == 0 {
		r.coverage() // for a recording that is cut off
	}
}

// kernelSeconds is what the program itself took, without the timer's interrupt.
func (r *running) kernelSeconds() float64 { return float64(r.sweep.totals[totalTime]) / 1e9 }

// Stop implements probe.Running.
func (r *running) Stop() {
	r.cancel()
	r.done.Wait()
	r.coverage()
	r.sweep.close()
	r.l.close()
	r.names.Close()
}

// take keeps a stack that the kernel hands over, and what its process has mapped.
func (r *running) take(t taken) {
	if t.fresh == freshProgram {
		r.names.Forget(t.pid)
	}
	if t.fresh != 0 {
		r.held++
	}
	if t.copied {
		t.user = []uint64{t.at.IP()}
	}
	var image *symbols.Image
	switch {
	case r.held <= mostHeld:
		image = r.names.Hold(t.pid, t.user)
	case t.fresh != 0:
		r.unheld++
	}
	switch {
	case t.copied:
		r.walk(&t, image)
	case image != nil && len(t.bytes) > 0 && r.tally.stacks[t.kind] == nil:
		w := r.names.Mend(image, t.at, t.bytes, t.user)
		t.user, t.end, t.guess = w.Addresses, w.End, w.Guess
	}
	if !r.tally.take(t, image) {
		r.noRoom++
		r.sweep.again([]kind{t.kind})
		return
	}
	if s := r.tally.stacks[t.kind]; s.function == "" && len(s.kernel) > 0 {
		s.function, s.caller = kernel.Path(functions(r.names.Kernel(s.kernel)))
	}
}

// walk walks the copy of a stack, and counts its sample.
func (r *running) walk(t *taken, image *symbols.Image) {
	if image != nil {
		w := r.names.Unwind(image, t.at, t.bytes)
		t.user, t.end, t.guess = w.Addresses, w.End, w.Guess
	}
	t.hash = hashOf(t.kernel, t.user)
	k := copiedKey{t.kind, t.tid}
	e := r.copied[k]
	e.kind, e.tid, e.comm = t.kind, t.tid, t.comm
	e.n++
	r.copied[k] = e
}

func functions(frames []symbols.Frame) []string {
	out := make([]string, len(frames))
	for i, f := range frames {
		out[i] = f.Function
	}
	return out
}

// tick reads what was counted since the last one. open: more will come.
func (r *running) tick(open bool) {
	entries, err := r.sweep.sweep()
	if err != nil && r.failed == nil {
		r.failed = err
	}
	// What was counted may have a stack that was handed over since the ring was read.
	if err := r.sweep.stacks(time.Now(), r.take); err != nil && r.failed == nil {
		r.failed = err
	}
	r.held = 0
	for _, e := range r.copied {
		entries = append(entries, e)
	}
	clear(r.copied)
	at, now := r.last, r.env.Now()
	r.last = now
	r.tally.count(at, entries)
	all := r.sweep.totals[totalAll] - r.before[totalAll]
	r.before = r.sweep.totals
	for _, row := range profile(at, entries, func(k kind) *stack { return r.tally.stacks[k] }, all, rate(r.env)) {
		r.env.Sink.Append(row)
	}
	each := r.env.Ticks(flushEach)
	if r.env.Whole {
		each = flushEachWhole
	}
	if r.ticks++; open && (r.ticks%each == 0 || r.tally.full()) {
		r.flush()
	}
}

// rate is how many samples per second and CPU are taken.
func rate(env *probe.Env) float64 {
	if env.Continuous {
		return hzAlways
	}
	return hz
}

// flush names the stacks that count, and writes the rows.
func (r *running) flush() {
	r.lookForLoops()
	most, least := mostNamed, uint64(leastTimes)
	if r.env.Whole {
		most, least = mostStacks, 1
	}
	for _, s := range r.tally.heaviest(most, least) {
		r.name(s)
	}
	for _, row := range r.tally.rows {
		switch {
		case row.stack == nil:
			r.missing += float64(row.n)
		case !row.stack.named:
			r.light += float64(row.n)
		default:
			r.quality.add(row.stack.quality, float64(row.n))
		}
	}
	for _, row := range r.tally.flush(rate(r.env), r.env.Whole) {
		r.env.Sink.Append(row)
	}
	r.sweep.again(r.tally.settle())
}

// name gives a stack its names and its place in the table of stacks.
func (r *running) name(s *stack) {
	if s.image == nil { // there was no time to look at it then
		s.image = r.names.Hold(s.pid, nil)
	}
	k, u := r.names.Kernel(s.kernel), r.names.In(s.image, s.user)
	named := symbols.StackOf(k, u)
	named.Cut = symbols.CutAfter(s.end, u)
	if s.guess > 0 && s.guess < len(u) {
		named.Guessed = len(k) + s.guess
		for _, f := range u[:s.guess] {
			named.Guessed += len(f.Inlined)
		}
	}
	s.quality = judge(k, u, named.Cut)
	s.id = r.env.Stacks.ID(named)
	s.named = true
	s.kernel, s.user, s.image = nil, nil, nil // not needed any more
}
