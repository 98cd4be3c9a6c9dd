package offcpu

import (
	"cmp"

	"snag/internal/kernel"
	"snag/internal/sorting"
	"snag/probes/threads"
	"snag/recording"
)

// wait is what the kernel counted of one thread at one place in one second, or what
// goes on.
type wait struct {
	key   kernelWaitKey
	value kernelWaitValue
}

// naming is what is asked about a wait.
type naming interface {
	id(p pair) int
	kernel(id int32) []string
}

// files reports what a descriptor of a process is: the link /proc/PID/fd/N.
type files func(pid, fd int) string

// waitRow turns a wait into its row. end is the second in which it ended.
func waitRow(t recording.Time, a recording.Anchor, w wait, names, wakers naming, file files) recording.OffCPU {
	k, v := w.key, w.value
	pid := int(k.Tgid)
	row := recording.OffCPU{
		T: t, PID: pid, TID: int(k.Tid), Comm: kernel.Text(v.Comm[:]), N: v.N,
		Sum: seconds(v.Sum), Max: seconds(v.Max), MaxAt: a.FromMonotonic(int64(v.MaxAt)),
		Stack: names.id(pair{pid, k.Kstack, k.Ustack, k.Site}),
	}
	link := ""
	if k.How != howReady && k.Nr >= 0 {
		row.Call = callName(k.Nr)
		if fd, ok := threads.Descriptor(row.Call, k.Object); ok && fd >= 0 && k.Object != noObject {
			row.FD = &fd
			if k.Kstack < 0 {
				link = file(pid, fd)
			}
		}
	}
	row.Reason = reasonOf(k.How, row.Call, names.kernel(k.Kstack), link)
	if row.Call == "futex" {
		row.Futex = k.Object
	}
	if v.Waker.Known != 0 {
		row.WakerPID, row.WakerTID, row.WakerComm, row.WakerStack = wakerOf(v.Waker, wakers)
	}
	return row
}

// noObject stands for the first argument of a call that is no descriptor and no futex.
const noObject = ^uint64(0)

// wakerOf is who woke a thread. What an interrupt woke, the thread that it
// interrupted had no part in.
func wakerOf(w kernelWaker, names naming) (pid, tid int, comm string, stack int) {
	functions := names.kernel(w.Kstack)
	switch {
	case w.Tid == 0:
		return 0, 0, "idle CPU", 0
	case byInterrupt(functions):
		return 0, 0, "interrupt", 0
	}
	return int(w.Tgid), int(w.Tid), kernel.Text(w.Comm[:]), names.id(pair{int(w.Tgid), w.Kstack, w.Ustack, w.Site})
}

func seconds(ns uint64) float64 { return float64(ns) / 1e9 }

// foldWaits adds up rows that are one but for what rows leave out, keeps the most
// that took longest, and adds the others up by process and reason.
func foldWaits(rows []recording.OffCPU, most int) []recording.OffCPU {
	type key struct {
		pid, tid     int
		reason, call string
		stack, fd    int
		futex        uint64
	}
	keyOf := func(r recording.OffCPU) key {
		k := key{r.PID, r.TID, r.Reason, r.Call, r.Stack, -1, r.Futex}
		if r.FD != nil {
			k.fd = *r.FD
		}
		return k
	}
	rows = merge(rows, keyOf)
	sorting.StableBy(rows, func(a, b recording.OffCPU) int { return cmp.Compare(b.Sum, a.Sum) })
	if len(rows) <= most {
		return rows
	}
	rest := rows[most:]
	for i := range rest {
		r := &rest[i]
		rest[i] = recording.OffCPU{T: r.T, PID: r.PID, Comm: r.Comm, Reason: r.Reason, N: r.N, Sum: r.Sum, Max: r.Max, MaxAt: r.MaxAt}
	}
	return append(rows[:most:most], merge(rest, keyOf)...)
}

func merge[K comparable](rows []recording.OffCPU, keyOf func(recording.OffCPU) K) []recording.OffCPU {
	at := map[K]int{}
	var out []recording.OffCPU
	for _, r := range rows {
		k := keyOf(r)
		i, ok := at[k]
		if !ok {
			at[k] = len(out)
			out = append(out, r)
			continue
		}
		o := &out[i]
		o.N += r.N
		o.Sum += r.Sum
		if r.Max > o.Max {
			o.Max, o.MaxAt = r.Max, r.MaxAt
			if r.WakerComm != "" {
				o.WakerPID, o.WakerTID, o.WakerComm, o.WakerStack = r.WakerPID, r.WakerTID, r.WakerComm, r.WakerStack
			}
		}
	}
	return out
}

// still are the waits that go on at now, ns of CLOCK_MONOTONIC, as far as they have
// come; those over the threshold.
func still(all map[uint32]kernelThread, now, threshold uint64) []wait {
	var out []wait
	for tid, t := range all {
		if t.Start == 0 || now < t.Start || t.Tgid == 0 {
			continue
		}
		end := now
		if t.Woken > t.Start && t.Woken < now && t.How != howReady {
			end = t.Woken
			if now-end >= threshold {
				w := wait{key: kernelWaitKey{Object: noObject, Tgid: t.Tgid, Tid: tid, Nr: -1, Kstack: noStack, Ustack: noStack, How: howReady, Queued: 1}}
				w.value.N, w.value.Sum, w.value.Max, w.value.MaxAt, w.value.Comm = 1, now-end, now-end, end, t.Comm
				out = append(out, w)
			}
		}
		if end-t.Start < threshold {
			continue
		}
		w := wait{key: kernelWaitKey{Object: t.Args[0], Tgid: t.Tgid, Tid: tid, Nr: t.Nr, Kstack: t.Kstack, Ustack: t.Ustack, Site: t.Site, How: t.How}}
		if t.How == howReady {
			w.key.Object, w.key.Nr, w.key.Kstack, w.key.Ustack, w.key.Site = noObject, -1, noStack, noStack, 0
		}
		w.value.N, w.value.Sum, w.value.Max, w.value.MaxAt, w.value.Comm = 1, end-t.Start, end-t.Start, t.Start, t.Comm
		out = append(out, w)
	}
	sorting.By(out, func(a, b wait) int { return cmp.Compare(a.key.Tid, b.key.Tid) })
	return out
}
