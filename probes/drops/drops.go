// Package drops counts every packet that the kernel throws away: why, where,
// in which namespace, of which flow, and whose socket lost it. The kernel side
// (drops.bpf.c) counts; once a second this side reads and writes rows.
package drops

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"snag/internal/kernel"
	"snag/probes/probe"
	"snag/recording"
)

// Probe is the probe of dropped packets.
var Probe = probe.Probe{Name: name, Start: start}

const name = "drops"

// stacksEach is how many stacks per second each reason at each place gets. One
// takes some µs where a count takes a fraction of one.
const stacksEach = 8

// period between two readings, and how many of them lie between two coverages.
const (
	period       = time.Second
	coverageEach = 5
)

type running struct {
	env    *probe.Env
	cancel context.CancelFunc
	done   sync.WaitGroup

	l      *loaded
	sweep  *sweeper
	names  names
	owners owners
	// unowned are the rows that wait for the next scan of owners.
	unowned []recording.Drop
	hidden  error // why places and stacks have no names

	since    recording.Time // the probe began
	last     recording.Time // the last reading
	ticks    int
	late     time.Duration
	cost     float64
	failed   error
	notFound uint64          // drops whose socket has no process
	told     map[string]bool // reasons that were announced
	written  map[int]bool    // stacks in the table
	noStacks uint64          // stacks that could not be read back
}

func start(ctx context.Context, env *probe.Env) (probe.Running, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := probe.ThreadCPU()
	if lack := kernel.CanLoad(env.Proc, env.Sys); lack != nil {
		return nil, unavailable(lack)
	}
	l, err := load(stacksEach)
	if err != nil {
		return nil, unavailable(err)
	}
	r := &running{
		env: env, l: l, sweep: newSweeper(l),
		names:  names{reasons: l.reasons},
		owners: owners{proc: env.Proc, known: map[uint64]owner{}},
		since:  env.Now(), told: map[string]bool{}, written: map[int]bool{},
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
	var work probe.Work
	before := r.cost
	spent := func() { r.cost = before + work.CPU() }
	probe.Every(ctx, period, work.During(func(late time.Duration) {
		r.late = max(r.late, late)
		r.tick()
		spent()
		now := r.env.Now()
		labels := recording.Labels{"probe": name}
		r.env.Sink.Sample(now, "snag_probe_cpu_seconds_total", labels, r.cost)
		r.env.Sink.Sample(now, "snag_probe_late_seconds", labels, late.Seconds())
		if r.ticks++; r.ticks%coverageEach == 0 {
			r.coverage() // for a recording that is cut off
		}
	}))
	work.Begin()
	defer work.End()
	// The map in use and, after it, what was counted while it was swapped.
	r.l.detach()
	r.tick()
	r.owners.next = time.Time{} // the last look
	r.tick()
	spent()
}

// Stop implements probe.Running.
func (r *running) Stop() {
	r.cancel()
	r.done.Wait()
	r.l.close()
	r.coverage()
}

// tick reads what was dropped since the last one and writes it.
func (r *running) tick() {
	entries, err := r.sweep.sweep()
	if err != nil && r.failed == nil {
		r.failed = err
	}
	since, now := r.last, r.env.Now()
	r.last = now
	if len(entries) == 0 && len(r.unowned) == 0 {
		return
	}
	if r.names.symbols == nil && r.hidden == nil { // takes 66 ms of CPU: not where nothing is dropped
		r.names.symbols, r.hidden = kernel.SharedSymbols(r.env.Proc)
	}
	inodes := map[uint64]bool{}
	rows := r.unowned
	for _, e := range entries {
		rows = append(rows, r.names.row(e, r.env.Anchor, since, now))
	}
	r.unowned = nil
	for _, d := range rows {
		if d.Inode != 0 && !d.Benign {
			inodes[d.Inode] = true
		}
	}
	looked := r.owners.find(inodes, time.Now())
	for _, d := range fold(rows, mostRows) {
		if d.Stack != 0 && !r.writeStack(d.Stack) {
			d.Stack = 0
		}
		switch o, ok := r.owners.known[d.Inode]; {
		case ok && d.Inode != 0:
			d.PID, d.Comm = o.pid, o.comm
		case !inodes[d.Inode]:
		case !looked:
			r.unowned = append(r.unowned, d)
			continue
		default:
			r.notFound += d.N
		}
		r.env.Sink.Append(d)
		r.tell(d)
	}
}

// writeStack puts a stack into its table once, and reports whether it is there.
func (r *running) writeStack(id int) bool {
	if r.written[id] {
		return true
	}
	addrs, err := r.sweep.stack(int32(id))
	if err != nil {
		r.noStacks++
		return false
	}
	r.written[id] = true
	r.env.Sink.Append(recording.Stack{ID: id, Frames: r.names.frames(addrs)})
	return true
}

// tell announces the first drop of each reason that somebody lost something by.
func (r *running) tell(d recording.Drop) {
	kind := d.Reason
	if kind == "" {
		kind = d.Place
	}
	if d.Benign || r.told[kind] || len(r.told) > 50 {
		return
	}
	r.told[kind] = true
	r.env.Notice("first drops: " + describe(d))
}

// describe puts a row into words: "SOCKET_RCVBUFF in udp_queue_rcv_one_skb,
// udp 10.0.0.1:40000 → 10.0.0.2:5004, of rtpbridge[812]".
func describe(d recording.Drop) string {
	text := d.Place
	if d.Reason != "" {
		text = d.Reason + " in " + d.Place
	}
	if d.Device != "" {
		text += " on " + d.Device
	}
	if d.Src != "" {
		text += fmt.Sprintf(", %s %s → %s", d.Proto, d.Src, d.Dst)
	}
	if d.PID != 0 {
		side := "to"
		if d.Sent {
			side = "from"
		}
		text += fmt.Sprintf(", %s %s[%d]", side, d.Comm, d.PID)
	}
	return text
}
