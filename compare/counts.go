package compare

import (
	"cmp"
	"slices"

	"snag/recording"
)

// lasts are events that last, and the measure that sees them.
type lasts struct {
	kind, measure, what string
	side                string // of a stream; "": any
}

var lasting = []lasts{
	{kind: recording.EventStreamFreeze, measure: "streams.figures", what: "time in which streams froze for viewers", side: recording.StreamSideConsumer},
	{kind: recording.EventStopped, measure: "host.processes", what: "time in which processes were stopped"},
	{kind: recording.EventGCPause, measure: "jvm.counters", what: "time in which a collector stopped a JVM"},
	{kind: recording.EventSafepoint, measure: "jvm.counters", what: "time in which JVMs were at a safepoint"},
}

func (e lasts) seconds(r *recording.Recording) []float64 {
	out := make([]float64, seconds(r))
	for _, one := range r.Events {
		if one.Kind != e.kind || e.side != "" && one.Attrs["side"] != e.side {
			continue
		}
		end := one.End
		if end == 0 {
			end = r.Manifest.End
		}
		if end > one.T {
			share(out, r, one.T, end, end.Sub(one.T).Seconds())
		}
	}
	return out
}

// counts are what rows count, by what it is, by second.
type counts map[string][]float64

func (c counts) add(r *recording.Recording, what string, t recording.Time, n uint64) {
	if n == 0 {
		return
	}
	if c[what] == nil {
		c[what] = make([]float64, seconds(r))
	}
	if at := int(t.Sub(r.Manifest.Start).Seconds()); at >= 0 && at < len(c[what]) {
		c[what][at] += float64(n)
	}
}

func (c counts) drops(r *recording.Recording) {
	for _, d := range r.Drops {
		if !d.Benign {
			c.add(r, "packets that the kernel dropped ("+d.Reason+")", d.T, d.N)
		}
	}
}

func (c counts) errors(r *recording.Recording) {
	for _, e := range r.CallErrors {
		if !ordinary(e.Errno) {
			c.add(r, cmp.Or(e.Comm, "a program")+": "+e.Call+" failed with "+e.Errno, e.T, e.N)
		}
	}
}

func ordinary(errno string) bool {
	return slices.Contains([]string{"EAGAIN", "EINPROGRESS", "EINTR", "EALREADY", "EISCONN"}, errno)
}

// orEmpty is what a recording counted, or that it counted nothing.
func orEmpty(all []float64, r *recording.Recording) []float64 {
	if all == nil {
		return make([]float64, seconds(r))
	}
	return all
}
