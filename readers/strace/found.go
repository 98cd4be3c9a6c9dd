package strace

import (
	"snag/internal/sorting"
	"snag/recording"
)

// foundKey is where a text that was looked for was seen.
type foundKey struct {
	pid, tid int
	fd       int32
	call     uint16
}

type found struct {
	n           int
	first, last int64
	comm, name  string
}

// mostFound places are told apart.
const mostFound = 4096

// find notes a call whose arguments held the text that was looked for.
func (t *Trace) find(th *thread, id uint16, fd int32, at int64) {
	k := foundKey{th.proc.pid, th.tid, fd, id}
	f := t.found[k]
	if f == nil {
		if len(t.found) >= mostFound {
			return
		}
		f = &found{first: at, comm: th.comm()}
		t.found[k] = f
	}
	f.n++
	f.last = at
	if d := th.proc.fds.get(fd); d != nil {
		f.name = d.text()
	}
}

// tellFound writes an event for each place, in the order of their first times.
func (t *Trace) tellFound() {
	var all []recording.Event
	for k, f := range t.found {
		e := recording.Event{
			T: recording.Time(f.first), End: recording.Time(f.last), Kind: recording.EventFound, Value: float64(f.n), Unit: "calls",
			Subject: recording.Subject{Kind: recording.KindThread, PID: k.pid, TID: k.tid, Comm: f.comm},
			Attrs:   map[string]string{"text": t.o.Find, "call": t.calls.names[k.call]},
		}
		if k.fd >= 0 {
			e.Attrs["fd"] = itoa(int(k.fd))
		}
		if f.name != "" {
			e.Attrs["name"] = f.name
		}
		all = append(all, e)
	}
	sorting.By(all, func(a, b recording.Event) int { return int(a.T - b.T) })
	for _, e := range all {
		t.out.Append(e)
	}
}
