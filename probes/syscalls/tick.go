package syscalls

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/probes/probe"
	"snag/recording"
	"snag/recording/calltable"
)

// tick reads the second that is over.
func (r *running) tick(late time.Duration, last bool) {
	now := r.env.Now() // the last one's is when counting ended
	if r.kernel != nil {
		if last {
			r.going() // before it is detached: who has returned by then is counted
			r.kernel.detach()
		}
		r.drain()
	}
	if !last {
		r.follow()
	}
	r.charge()
	labels := recording.Labels{"probe": probeName}
	r.env.Sink.Sample(now, "snag_probe_cpu_seconds_total", labels, r.cost)
	r.env.Sink.Sample(now, "snag_probe_late_seconds", labels, late.Seconds())
	if r.runtimes != nil && r.runtimes.everSeen {
		r.env.Sink.Sample(now, "snag_probe_bpf_seconds_total", labels, r.runtimes.seconds)
	}
	if late > period/2 {
		r.env.Sink.Append(recording.Event{
			T: now, End: now, Kind: recording.EventObserverLate, Subject: recording.Subject{Kind: recording.KindObserver},
			Attrs: map[string]string{"probe": probeName}, Value: late.Seconds(), Unit: "s",
		})
	}
	r.announce()
}

// drain swaps the tables and writes what the full one holds.
func (r *running) drain() {
	full, odd, err := r.kernel.flip()
	if err != nil {
		r.fail(err)
		return
	}
	at, rows := r.since, calltable.Table{}
	r.since = r.env.Now()
	err = kernel.Drain(full, "system calls", func(k *kernelCallKey, v *kernelCallValue) {
		r.calls += v.N
		add(rows, at, r.env.Anchor, k, v)
	})
	if err == nil {
		err = r.kernel.emptied(odd)
	}
	if err != nil {
		r.fail(err)
	}
	r.readNotes()
	r.book.complete(time.Now(), r.env.Now())
	out, folded := rows.Coarser(calltable.Most)
	r.folded += folded
	for _, row := range out {
		r.env.Sink.Append(*row)
		if e, ok := sat(*row); ok {
			if r.long++; r.long > mostBlocked {
				continue
			}
			r.book.name(&e, row.PID, row.FD)
			r.env.Sink.Append(e)
		}
	}
}

// readNotes takes what the kernel side told of descriptors.
func (r *running) readNotes() {
	var record ringbuf.Record
	r.notes.SetDeadline(time.Unix(1, 0)) // what is there, and no waiting
	for {
		if err := r.notes.ReadInto(&record); err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				r.fail(fmt.Errorf("read the BPF ring of system calls: %w", err))
			}
			return
		}
		r.book.note(record.RawSample)
		if r.env.Peek > 0 {
			clear(record.RawSample) // payload is not kept, not even in a spare buffer
		}
	}
}

// charge puts what was used since the last time on the budget, and ends the probe
// when all is used up.
func (r *running) charge() {
	now := probe.ThreadCPU()
	used := now - r.mark
	r.mark = now
	r.cost += used
	if r.kernel == nil {
		return
	}
	if r.runtimes.refused == nil {
		used += r.runtimes.charge(time.Now(), r.kernel.attached())
	}
	r.env.Budget.Charge(probeName, used)
	if took, err := r.took(); err == nil {
		r.env.Budget.Took(probeName, took)
	}
	seconds := time.Since(r.began).Seconds()
	if r.stopped == "" && r.kernel.attached() && r.env.Budget.Over(seconds) {
		r.stop(seconds)
	}
}

func (r *running) stop(seconds float64) {
	r.kernel.detach()
	r.drain() // what came after the last swap
	r.stopped = fmt.Sprintf("stopped after %.1f s: the budget of %.3g %% of the machine's CPU time, and of each CPU's, was used up", seconds, 100*r.env.Budget.Share())
}

// measure lets the kernel time the programs for a moment.
func (r *running) measure(ctx context.Context) {
	if r.kernel == nil || !r.kernel.attached() || !r.runtimes.begin(time.Now()) {
		return
	}
	before, err := r.took()
	began := time.Now()
	select {
	case <-ctx.Done():
	case <-time.After(measured):
	}
	r.runtimes.end(time.Now())
	after, again := r.took()
	if err != nil || again != nil {
		return
	}
	r.busiest = 0
	for i, d := range after {
		r.busiest = max(r.busiest, (d-before[i]).Seconds()/time.Since(began).Seconds())
	}
}

// took is what the programs have taken of each CPU.
func (r *running) took() ([]time.Duration, error) {
	return kernel.Spent(r.kernel.objects.Spent, "system calls")
}

// endInTime ends the probe before the next tick where the budget does not last so long:
// a program that does nothing but call would else pay many times what it may.
func (r *running) endInTime(ctx context.Context) {
	if r.kernel == nil || !r.kernel.attached() || r.stopped != "" {
		return
	}
	r.charge()
	left := r.env.Budget.Lasts(time.Since(r.began).Seconds(), r.runtimes.share, r.busiest)
	if r.stopped != "" || left >= period.Seconds() {
		return
	}
	select {
	case <-ctx.Done():
		return
	case <-time.After(time.Duration(left * float64(time.Second))):
	}
	r.charge()
	if r.stopped == "" {
		r.stop(time.Since(r.began).Seconds())
	}
}

func (r *running) fail(err error) {
	if r.failed == nil {
		r.failed = err
	}
}

// finish takes the kernel side down.
func (r *running) finish() {
	if n, err := r.kernel.losses(); err == nil {
		r.book.losses = n
	}
	_ = r.notes.Close()
	r.kernel.close()
}

func nanotime() uint64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // exists on every kernel
	return uint64(ts.Nano())
}
