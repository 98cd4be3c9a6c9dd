package offcpu

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"snag/internal/kernel"
	"snag/internal/sorting"
	"snag/recording"
)

// second writes what ended since the last one, and what goes on.
func (r *running) second(last bool) error {
	if r.k == nil {
		return nil
	}
	if rate, err := kernel.RunTime(r.k.programs(), costWhile); err != nil {
		r.left.unmeasured = err
	} else {
		r.rate = rate
	}
	from, to := r.from, monotonic()
	t := r.env.Anchor.FromMonotonic(int64(from))
	old, err := r.k.flip(to)
	if err != nil {
		return err
	}
	r.from = to
	r.mend()
	all, err := r.k.all()
	if err != nil {
		return err
	}
	r.forget(all)
	r.lookAtOwners(all)

	var waits []wait
	if err := kernel.Drain(old.waits, name, func(k *kernelWaitKey, v *kernelWaitValue) { waits = append(waits, wait{*k, *v}) }); err != nil {
		return err
	}
	if last {
		waits = append(waits, still(all, to, uint64(r.effort.Threshold))...)
	}
	another := r.env.Closer.Replaced // of whom the number is now, nobody asked
	waits = slices.DeleteFunc(waits, func(w wait) bool { return another(int(w.key.Tgid)) })
	r.writeWaits(t, waits)

	var f futexes
	if err := kernel.Drain(old.locks, name, func(k *kernelLockKey, v *kernelLockValue) { f.ended(*k, *v) }); err != nil {
		return err
	}
	for tid, th := range all {
		if id, ok := futexWait(&th, nrFutex); ok {
			f.goesOn(tid, &th, id, from, to)
		}
	}
	var hands []hand
	if err := kernel.Drain(old.hands, name, func(k *kernelHandKey, v *kernelHandValue) { hands = append(hands, hand{key: *k, value: *v}) }); err != nil {
		return err
	}
	on, long := r.passed(&f, hands, all, from, to)
	r.writeLocks(t, &f, on)
	if err := kernel.Drain(old.longs, name, func(k *kernelLongKey, v *kernelLongValue) { long = append(long, event{*k, *v}) }); err != nil {
		return err
	}
	r.writeEvents(long)
	clear(r.owners)
	r.locals.forget()
	r.lost = r.k.lost()
	return nil
}

// forget drops the threads of processes that are not looked at any more.
func (r *running) forget(all map[uint32]kernelThread) {
	here := map[int]bool{} // asked once, not for each of its threads
	for pid := range r.closer {
		here[pid] = alive(r.env.Proc, pid)
	}
	for tid, t := range all {
		if here[int(t.Tgid)] {
			continue
		}
		_ = r.k.objects.Threads.Delete(tid) // it may have gone by itself
		delete(all, tid)
	}
}

func (r *running) writeWaits(t recording.Time, waits []wait) {
	links := map[[2]int]string{}
	file := func(pid, fd int) string {
		at := [2]int{pid, fd}
		link, ok := links[at]
		if !ok {
			link, _ = os.Readlink(fmt.Sprintf("%s/%d/fd/%d", r.env.Proc, pid, fd)) // gone: not known
			links[at] = link
		}
		return link
	}
	rows := make([]recording.OffCPU, 0, len(waits))
	for _, w := range waits {
		rows = append(rows, waitRow(t, r.env.Anchor, w, r.stacks, r.wakers, file))
	}
	for _, row := range foldWaits(rows, mostWaits) {
		r.env.Sink.Append(row)
	}
}

func (r *running) writeLocks(t recording.Time, f *futexes, p passedOn) {
	busiest, left := f.busiest(mostLocks)
	r.left.locks += uint64(left)
	r.jammed = false
	for _, x := range busiest {
		r.jammed = r.jammed || x.lock && x.address != 0
		own := r.owners[x.lockID]
		row := lockRow(t, x, own, r.stacks, r.wakers)
		if h := p[x.lockID]; h != nil && own == nil {
			row = passedRow(row, h.most(), r.stacks, r.wakers)
		}
		r.env.Sink.Append(row)
	}
}

// event is a wait that is told by itself.
type event struct {
	key   kernelLongKey
	value kernelLongValue
}

func (e event) took() uint64 { return e.value.End - e.key.Begin }

func (r *running) writeEvents(long []event) {
	sorting.By(long, func(a, b event) int {
		return cmp.Or(cmp.Compare(b.took(), a.took()), cmp.Compare(a.key.Begin, b.key.Begin))
	})
	if len(long) > mostEvents {
		r.left.events += uint64(len(long) - mostEvents)
		long = long[:mostEvents]
	}
	for _, e := range long {
		r.env.Sink.Append(e.row(r.env.Anchor, r.stacks, r.wakers, r.owners))
	}
}

// row is the event of a long wait for a CPU or a lock.
func (e event) row(a recording.Anchor, names, wakers functionNames, owners map[lockID]*holding) recording.Event {
	v := e.value
	out := recording.Event{
		T: a.FromMonotonic(int64(e.key.Begin)), End: a.FromMonotonic(int64(v.End)),
		Subject: recording.Subject{Kind: recording.KindThread, PID: int(v.Tgid), TID: int(e.key.Tid), Comm: kernel.Text(v.Comm[:])},
		Value:   seconds(e.took()), Unit: "s", Attrs: map[string]string{},
	}
	if e.key.Queued != 0 {
		out.Kind = recording.EventRunDelay
		if v.WakerTid != 0 {
			out.Attrs["ran"] = fmt.Sprintf("%s[%d]", kernel.Text(v.WakerComm[:]), v.WakerTid)
		} else {
			out.Attrs["ran"] = "idle" // it could have run and was not let: a quota
		}
		return out
	}
	out.Kind = recording.EventLockWait
	if v.Address != 0 {
		out.Attrs["address"] = fmt.Sprintf("0x%x", v.Address)
	}
	if h := owners[lockID{v.Tgid, v.Address, true}]; h != nil {
		most := h.most()
		out.Attrs["owner"] = fmt.Sprint(most.tid)
		if f := names.function(most.stack); f != "" {
			out.Attrs["function"] = f
		}
		return out
	}
	if v.WakerTgid == v.Tgid && v.WakerTid != 0 {
		out.Attrs["owner"] = fmt.Sprint(v.WakerTid)
		if f := wakers.function(pair{int(v.Tgid), v.WakerKstack, v.WakerUstack, v.WakerSite}); f != "" {
			out.Attrs["function"] = f
		}
	}
	return out
}

// functionNames names the function of the program that a stack of it is in.
type functionNames interface {
	function(p pair) string
}
