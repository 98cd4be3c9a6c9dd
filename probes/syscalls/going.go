package syscalls

import (
	"cmp"
	"strings"
	"time"

	"snag/internal/kernel"
	"snag/internal/sorting"
	"snag/probes/syscalls/uring"
	"snag/probes/threads"
	"snag/recording"
)

// A call is told of as an event when it took this long, and in no more events.
const (
	longCall    = time.Second
	mostBlocked = 1000
	// mostLooked threads are looked at in /proc for calls that began before the trace.
	mostLooked = 4096
)

// sat is the event of the longest call of a second's row: a thread ends one call of
// a second or more in a second at most. Calls that wait for anything at all are no
// news: idle threads sit in them.
func sat(row recording.Call) (recording.Event, bool) {
	if row.Max < longCall.Seconds() || row.TID == 0 || waitsForWork(row.Call) || row.Call == "futex" {
		return recording.Event{}, false
	}
	return blocked(row.PID, row.TID, row.Comm, row.Call, row.MaxAt, row.MaxAt.Add(time.Duration(row.Max*1e9)), "seen"), true
}

// waitsForWork reports whether it is no news that a call, or an operation of io_uring,
// lasts.
func waitsForWork(call string) bool {
	if strings.HasPrefix(call, recording.UringPrefix) {
		return uring.WaitsForWork(call)
	}
	return threads.WaitsForAnything(call)
}

// blocked makes an event; end 0: it goes on.
func blocked(pid, tid int, comm, call string, begin, end recording.Time, begun string) recording.Event {
	e := recording.Event{
		T: begin, End: end, Kind: recording.EventBlocked,
		Subject: recording.Subject{Kind: recording.KindThread, PID: pid, TID: tid, Comm: comm},
		Attrs:   map[string]string{"call": call, "begun": begun},
	}
	if strings.HasPrefix(call, recording.UringPrefix) {
		e.Attrs["async"] = "yes"
	}
	if waitsForWork(call) {
		e.Attrs["idle"] = "yes"
	}
	return e
}

// going tells of the calls that go on now, the last thing before the end: those that
// were seen to begin, and those that did before the trace.
func (r *running) going() {
	if !r.kernel.attached() {
		return
	}
	now, seen := nanotime(), map[int]bool{}
	type one struct {
		e  recording.Event
		fd int
	}
	var all []one
	add := func(e recording.Event, fd int, since recording.Time) {
		r.open++
		took := r.env.Now().Sub(since)
		if took < longCall {
			return
		}
		e.Value, e.Unit = took.Seconds(), "s"
		all = append(all, one{e, fd})
	}
	err := kernel.Walk(r.kernel.objects.Threads, "system calls", func(_ *uint64, in *kernelInCall) {
		if in.Begin == 0 || in.Begin > now {
			return
		}
		seen[int(in.Tid)] = true
		begin := r.env.Anchor.FromMonotonic(int64(in.Begin))
		comm := threads.Comm(r.env.Proc, int(in.Pid), int(in.Tid))
		add(blocked(int(in.Pid), int(in.Tid), comm, callName(in.Nr), begin, 0, "seen"), int(in.Fd), begin)
	})
	if err != nil {
		r.fail(err)
	}
	for _, o := range r.inFlight(now) {
		begin := r.env.Anchor.FromMonotonic(int64(o.In.Begin))
		add(blocked(int(o.In.Pid), int(o.In.Tid), kernel.Text(o.Comm[:]), callName(o.In.Nr), begin, 0, "seen"), int(o.In.Fd), begin)
	}
	rows, _ := threads.NewLooker(r.env.Proc).Look(r.wanted(), mostLooked, r.env.Now)
	for _, row := range rows {
		// Since the process is looked at, which may be later than the first was.
		var since uint64
		if !seen[row.TID] && threads.InCall(row.Syscall) && r.kernel.objects.Targets.Lookup(uint32(row.PID), &since) == nil {
			begin := r.env.Anchor.FromMonotonic(int64(since))
			add(blocked(row.PID, row.TID, row.Comm, row.Syscall, begin, 0, "before"), row.FD, begin)
		}
	}
	sorting.StableBy(all, func(a, b one) int {
		return cmp.Or(compareBool(a.e.Attrs["idle"] != "", b.e.Attrs["idle"] != ""), cmp.Compare(a.e.T, b.e.T))
	})
	for i, o := range all {
		if i == mostBlocked {
			r.withheld = len(all) - i
			break
		}
		r.book.name(&o.e, o.e.Subject.PID, o.fd)
		r.env.Sink.Append(o.e)
	}
}

// compareBool puts false first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
