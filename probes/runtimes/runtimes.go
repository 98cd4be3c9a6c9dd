// Package runtimes looks into the processes of language runtimes that the scheduler
// alone does not explain: mutexes of Go programs, whose goroutines wait in no futex, and
// the stops of their world, by uprobes, where that is asked for. Of the others it says
// what would name what they do.
package runtimes

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/internal/sorting"
	"snag/probes/probe"
	"snag/probes/symbols"
	"snag/probes/threads"
	"snag/recording"
)

// Probe is the probe of language runtimes.
var Probe = probe.Probe{Name: name, Start: start}

const (
	name   = "runtimes"
	period = 100 * time.Millisecond // between two readings of the rings
	each   = 10                     // of them make a second, in which rows are written
	// ownShare of the budget is this probe's at most: others are at work too.
	ownShare = 0.5
	// mostTraced Go programs are attached to.
	mostTraced = 16
	mostRows   = 64   // mutexes per second
	mostLong   = 100  // events per second
	longWait   = 1e8  // ns
	fewWaiting = 3    // waiters from which it is asked what owners wait for
	mostNamed  = 4096 // processes whose runtime is remembered
)

type running struct {
	env    *probe.Env
	cancel context.CancelFunc
	done   sync.WaitGroup

	k       *inKernel
	names   *symbols.Resolver
	kinds   map[int]runtime // of the processes that are looked at
	traced  map[int]*program
	failed  map[int]error
	locks   mutexes
	unlocks []golangUnlock
	ids     map[placeOf]int

	began   recording.Time
	since   recording.Time
	from    uint64
	ticks   int
	seconds int
	hits    uint64
	lost    uint64
	left    uint64
	late    time.Duration
	cost    float64 // CPU s of this side
	charged float64 // of it what was charged to the budget, or was paid once to attach
	inside  float64
	trap    float64 // what a hit costs, s of the program's CPU time
	// unmeasured is why that is not known.
	unmeasured error
	over       string // why it ended before the recording did
	lack       error
}

type placeOf struct {
	pid   int
	place golangPlace
}

func start(ctx context.Context, env *probe.Env) (probe.Running, error) {
	r := &running{
		env: env, began: env.Now(), names: symbols.NewBounded(env.Proc, symbols.TablesLean), kinds: map[int]runtime{},
		traced: map[int]*program{}, failed: map[int]error{}, ids: map[placeOf]int{},
	}
	ctx, r.cancel = context.WithCancel(ctx)
	r.done.Add(1)
	go r.run(ctx)
	return r, nil
}

func (r *running) run(ctx context.Context) {
	defer r.done.Done()
	var work probe.Work
	probe.EveryAdaptive(ctx, r.pause, work.During(func(late time.Duration) {
		r.late = max(r.late, late)
		r.ticks++
		if r.ticks%each != 1 && len(r.traced) > 0 {
			r.take()
			return
		}
		r.second()
		r.follow()
		r.cost = work.CPU()
		r.pay()
		if r.seconds++; r.seconds%5 == 1 {
			r.coverage() // for a recording that is cut off
		}
	}))
	work.Begin()
	defer work.End()
	r.second()
	r.cost = work.CPU()
}

// pause is until the rings are read again, or, where nothing is traced, until the next second.
func (r *running) pause() time.Duration {
	if len(r.traced) == 0 {
		return each * period
	}
	return period
}

// Stop implements probe.Running.
func (r *running) Stop() {
	r.cancel()
	r.done.Wait()
	r.coverage()
	r.detachAll()
	if r.k != nil {
		r.k.close()
	}
	r.names.Close()
}

func (r *running) wanted() bool { return r.env.GoLocks || r.env.GoRuntime }

// follow looks what runs the processes that are looked at, and attaches to Go programs.
func (r *running) follow() {
	now := map[int]bool{}
	for _, pid := range append(r.env.Closer.PIDs(), r.env.Target.PIDs...) {
		if pid == r.env.SelfPID || now[pid] || !alive(r.env.Proc, pid) {
			continue
		}
		now[pid] = true
		if _, ok := r.kinds[pid]; !ok && len(r.kinds) < mostNamed {
			r.kinds[pid] = recognise(r.env.Proc, pid)
			if r.env.Whole && r.wanted() && r.kinds[pid] != golang { // it was asked for by name
				r.env.Notice(fmt.Sprintf("%s[%d] is not a Go program: of its locks and stops nothing is seen by breakpoints", comm(r.env.Proc, pid), pid))
			}
		}
		if r.kinds[pid] == golang && r.wanted() && r.env.Closer.Has(pid) {
			r.attach(pid)
		}
	}
	for pid, p := range r.traced {
		if !now[pid] {
			p.close()
			delete(r.traced, pid)
		}
	}
}

func alive(proc string, pid int) bool {
	_, err := os.Stat(proc + "/" + strconv.Itoa(pid))
	return err == nil
}

// attach attaches to a Go program, once.
func (r *running) attach(pid int) {
	if r.over != "" || r.lack != nil || r.traced[pid] != nil || r.failed[pid] != nil || len(r.traced) >= mostTraced {
		return
	}
	// Once, and not on the budget: it would end what has just begun.
	defer func(began float64) { r.charged += probe.ThreadCPU() - began }(probe.ThreadCPU())
	if r.k == nil {
		k, err := load(r.env.Proc, r.env.Sys)
		if err != nil {
			r.lack = err
			return
		}
		r.k, r.since, r.from = k, r.env.Now(), monotonic()
		r.trap, r.unmeasured = measureTrap(k.objects.LockSlow)
		_ = k.objects.Hits.Get(&r.hits) // of a mapped array: can't fail after the load
	}
	p, err := open(r.env.Proc, pid)
	if err == nil && r.env.GoLocks {
		err = p.hang(&p.locks, pid, hook{lockSlow, r.k.objects.LockSlow}, hook{unlockSlow, r.k.objects.UnlockSlow})
	}
	if err == nil && r.env.GoRuntime {
		err = p.hang(&p.world, pid, hook{stopWorld, r.k.objects.StopWorld}, hook{startWorld, r.k.objects.StartWorld})
	}
	if err != nil {
		if p != nil {
			p.close()
		}
		r.failed[pid] = err
		return
	}
	r.traced[pid] = p
}

// take reads the ring of unlocks.
func (r *running) take() {
	if r.k == nil {
		return
	}
	drain(r.k.unlocks, func(u golangUnlock) { r.unlocks = append(r.unlocks, u) })
}

// drain reads what lies in a ring.
func drain[T any](ring *ringbuf.Reader, each func(T)) {
	ring.SetDeadline(time.Unix(1, 0)) // a read returns what is there
	for {
		record, err := ring.Read()
		if err != nil {
			return // all are read
		}
		if v, ok := decode[T](record.RawSample); ok {
			each(v)
		}
	}
}

// decode reads one record of a ring.
func decode[T any](raw []byte) (v T, ok bool) {
	err := binary.Read(bytes.NewReader(raw), binary.NativeEndian, &v)
	return v, err == nil
}

// second writes what was seen since the last one.
func (r *running) second() {
	if r.k == nil {
		return
	}
	r.take()
	from, to := r.from, monotonic()
	r.from = to
	sorting.By(r.unlocks, func(a, b golangUnlock) int { return int(int64(a.At) - int64(b.At)) })
	for _, u := range r.unlocks {
		r.locks.add(u, from)
	}
	came := map[mutexID][]waiter{}
	if err := kernel.Walk(r.k.objects.Going, name, func(k *golangGoroutine, w *golangWaiting) {
		if id := (mutexID{k.Pid, w.Mutex}); w.Mutex != 0 && r.traced[int(k.Pid)] != nil {
			came[id] = append(came[id], waiter{*k, *w})
		}
	}); err != nil {
		r.lack = err
	}
	for id, list := range came {
		for _, w := range stillWaiting(list, r.waitersNow(id)) {
			r.locks.goesOn(w.k, w.w, from, to)
		}
	}
	t := r.env.Anchor.FromMonotonic(int64(from))
	busiest, left := r.locks.busiest(mostRows)
	r.left += uint64(left)
	crowded := map[int]bool{}
	for _, x := range busiest {
		row := x.row(t, comm(r.env.Proc, int(x.pid)), r)
		crowded[row.PID] = crowded[row.PID] || row.Waiters >= fewWaiting && x.n > 0
		r.env.Sink.Append(row)
	}
	r.tellLong()
	r.unlocks, r.locks.all = r.unlocks[:0], nil
	r.askPolls(crowded)
	drain(r.k.stops, func(s golangStop) { r.env.Sink.Append(r.stopEvent(s)) })
	_ = r.k.objects.Lost.Get(&r.lost) // of a mapped array: can't fail after the load
}

// waitersNow reads how many goroutines wait for a mutex: its word counts them.
func (r *running) waitersNow(id mutexID) int {
	var word [4]byte
	if err := threads.ReadMemory(int(id.pid), id.address, word[:]); err != nil {
		return 0
	}
	return int(binary.NativeEndian.Uint32(word[:]) >> 3)
}

// tellLong writes the waits of 100 ms and more as events.
func (r *running) tellLong() {
	n := 0
	for _, u := range r.unlocks {
		if u.Was.Since == 0 || u.At < u.Was.Since+longWait || n >= mostLong {
			continue
		}
		n++
		e := recording.Event{
			T: r.env.Anchor.FromMonotonic(int64(u.Was.Since)), End: r.env.Anchor.FromMonotonic(int64(u.At)), Kind: recording.EventLockWait,
			Subject: recording.Subject{Kind: recording.KindProcess, PID: int(u.Pid), Comm: comm(r.env.Proc, int(u.Pid))},
			Value:   float64(u.At-u.Was.Since) / 1e9, Unit: "s", Attrs: map[string]string{"address": fmt.Sprintf("0x%x", u.Mutex)},
		}
		if f := r.function(int(u.Pid), u.Where); f != "" {
			e.Attrs["function"] = f
		}
		r.env.Sink.Append(e)
	}
}

// askPolls asks what owners wait for, in the programs where goroutines queue, and only
// there: a server waits for its connections all the time.
func (r *running) askPolls(crowded map[int]bool) {
	for pid, p := range r.traced {
		switch {
		case crowded[pid] && len(p.polls) == 0:
			_ = p.hang(&p.polls, pid, hook{pollWait, r.k.objects.PollWait}) // a program without it waits for no descriptor
		case !crowded[pid]:
			closeAll(&p.polls)
		}
	}
}

// addresses of a place, innermost first.
func (r *running) addresses(p golangPlace) []uint64 {
	var at [64]uint64
	if p.Stack < 0 || r.k.objects.Stacks.Lookup(uint32(p.Stack), &at) != nil {
		return []uint64{p.Caller}
	}
	out := []uint64{at[0], p.Caller}
	for _, a := range at[1:] {
		if a == 0 {
			break
		}
		out = append(out, a)
	}
	return out
}

// id implements stacks.
func (r *running) id(pid int, p golangPlace) int {
	if p.Caller == 0 {
		return 0
	}
	key := placeOf{pid, p}
	if id, ok := r.ids[key]; ok {
		return id
	}
	if len(r.ids) >= 1<<14 {
		clear(r.ids)
	}
	id := r.env.Stacks.ID(r.names.Stack(pid, nil, r.addresses(p)))
	r.ids[key] = id
	return id
}

// function is the innermost function that is the program's own.
func (r *running) function(pid int, p golangPlace) string {
	for _, f := range r.names.User(pid, r.addresses(p)) {
		if f.Named && !strings.HasPrefix(f.Function, "sync.") && !strings.HasPrefix(f.Function, "internal/") && !strings.HasPrefix(f.Function, "runtime.") {
			return f.Function
		}
	}
	return ""
}

// pay charges what the last second cost, and detaches where that was too much.
func (r *running) pay() {
	r.env.Budget.Charge(name, r.cost-r.charged)
	r.charged = r.cost
	labels := recording.Labels{"probe": name}
	now := r.env.Now()
	r.env.Sink.Sample(now, "snag_probe_cpu_seconds_total", labels, r.cost)
	if r.k == nil || r.over != "" {
		return
	}
	var hits uint64
	_ = r.k.objects.Hits.Get(&hits) // of a mapped array: can't fail after the load
	spent := float64(hits-r.hits) * r.trap
	r.hits = hits
	r.inside += spent
	r.env.Budget.Charge(name, spent)
	r.env.Sink.Sample(now, "snag_probe_kernel_cpu_seconds_total", labels, r.inside)
	may := ownShare * r.env.Budget.Share() * float64(goruntime.NumCPU())
	switch {
	case may > 0 && spent > may:
		r.end(fmt.Sprintf("its breakpoints cost more than their share of the budget (%.3f s of the programs' time)", r.inside))
	case r.env.Budget.Over(now.Sub(r.began).Seconds()):
		r.end("all probes together had used up the budget")
	}
}

// end ends it before the recording does.
func (r *running) end(why string) {
	r.over = why
	r.detachAll()
}

func (r *running) detachAll() {
	for pid, p := range r.traced {
		p.close()
		delete(r.traced, pid)
	}
}

func comm(proc string, pid int) string {
	b, err := os.ReadFile(proc + "/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func monotonic() uint64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // exists on every kernel
	return uint64(ts.Nano())
}
