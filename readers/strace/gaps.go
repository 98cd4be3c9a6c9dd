package strace

import (
	"snag/recording"
)

// rhythm is how steadily a socket is read.
type rhythm struct {
	second int64 // of the last read
	until  int64 // it ends here, ns
	in     int   // seconds with a read, up to rhythmic
	last   int64 // end of the last read, ns
}

// A socket that was read in as many seconds as this has a rhythm; leastGap seconds
// without a read are then told.
const (
	rhythmic = 3
	leastGap = 2
)

// heard follows the reads of a socket, and tells where they stopped for whole seconds.
func (t *Trace) heard(th *thread, d *descriptor, begin, end int64) {
	r := &d.rhythm
	if end < r.until && end >= r.last {
		r.last = end
		return
	}
	second := end / 1e9
	if r.in >= rhythmic && second-r.second > leastGap {
		t.gap(th, d, r.last, begin, end)
	}
	if r.in < rhythmic {
		if r.in++; second-r.second > 1 { // no rhythm yet
			r.in = 1
		}
	}
	r.second, r.until, r.last = second, (second+1)*1e9, end
}

// gap tells of the seconds in which a thread did not read, and where it was.
func (t *Trace) gap(th *thread, d *descriptor, from, begin, end int64) {
	if t.events++; t.events > mostEvents {
		return
	}
	e := recording.Event{
		T: recording.Time(from), End: recording.Time(end), Kind: recording.EventReadGap, Value: float64(end-from) / 1e9, Unit: "seconds",
		Subject: recording.Subject{Kind: recording.KindThread, PID: th.proc.pid, TID: th.tid, Comm: th.comm()},
		Attrs:   map[string]string{"fd": itoa(d.row.FD), "name": d.text()},
	}
	if 2*(end-begin) > end-from {
		e.Attrs["in"] = "the read: nothing came"
	} else if c, ok := th.long.within(from, end); ok {
		e.Attrs["in"] = t.calls.names[c.call]
		if c.fd >= 0 {
			e.Attrs["in_fd"] = itoa(int(c.fd))
			if other := th.proc.fds.get(c.fd); other != nil {
				e.Attrs["in_name"] = other.text()
			}
		}
	}
	t.out.Append(e)
}

// longest are a thread's last long calls.
type longest struct {
	last [4]longOne
	next int
}

type longOne struct {
	call        uint16
	fd          int32
	begin, took int64
}

func (g *longest) note(call uint16, fd int32, begin, took int64) {
	if took < 100e6 {
		return
	}
	g.last[g.next&3] = longOne{call, fd, begin, took}
	g.next++
}

// within is the call that fills most of an interval.
func (g *longest) within(from, to int64) (best longOne, ok bool) {
	most := int64(0)
	for _, c := range g.last {
		if in := min(c.begin+c.took, to) - max(c.begin, from); in > most {
			most, best, ok = in, c, true
		}
	}
	return best, ok
}
