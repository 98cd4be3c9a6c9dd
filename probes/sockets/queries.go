package sockets

import (
	"fmt"
	"io"
	"os"

	"snag/internal/kernel"
	"snag/internal/procroot"
	"snag/recording"
)

func (r *running) drainQueries(suffix string) {
	if r.kernel.lacks["sockets.queries"] != nil {
		return
	}
	var rows []recording.Queries
	err := kernel.Drain(r.kernel.maps.Maps["queries"+suffix], "sockets", func(k *kernelQueryKey, v *kernelQueryValue) {
		row := queryRow(r.since, *k, *v)
		row.Measured = r.part
		rows = append(rows, row)
	})
	if err != nil {
		r.ledger.fail("sockets.queries", err)
	}
	rows, lost := busiest(rows, mostRows, func(q recording.Queries) uint64 { return q.Asked + q.GaveUp + q.Open })
	r.ledger.lose("sockets.queries", lost)
	for _, row := range rows {
		if row.PID == r.env.SelfPID {
			continue
		}
		r.env.Sink.Append(row)
		if why := slowNames(row); why != "" {
			r.env.Watch.Add(row.PID, why)
			r.noteResolver(row.PID, row.Netns)
		}
	}
}

// slowNames is why the process of a row is looked at closely; "" if it is not.
func slowNames(row recording.Queries) string {
	switch {
	case row.GaveUp > 0:
		return fmt.Sprintf("the name server %s did not answer it for %.1f s", row.Remote, row.GaveUpMax)
	case row.Answered > 0 && row.Sum/float64(row.Answered) >= slowMean:
		return fmt.Sprintf("the name server %s took %.0f ms on average to answer it", row.Remote, 1000*row.Sum/float64(row.Answered))
	}
	return ""
}

func queryRow(t recording.Time, k kernelQueryKey, v kernelQueryValue) recording.Queries {
	e := endsOf(k.Flow)
	return recording.Queries{
		T: t, Netns: e.netns, PID: int(k.Pid), Comm: kernel.Text(v.Comm[:]), Remote: e.remote,
		Asked: v.Asked, Answered: v.Answered, Sum: seconds(v.Sum), Max: seconds(v.Max),
		GaveUp: v.GaveUp, GaveUpSum: seconds(v.GaveSum), GaveUpMin: seconds(v.GaveMin), GaveUpMax: seconds(v.GaveMax),
		Failed: v.Failed, FailedAs: failedAs(v.FailedAs), Unknown: v.Unknown, Open: v.Open, Oldest: seconds(v.Oldest),
	}
}

const (
	mostResolvers = 64       // processes whose resolv.conf is read
	mostResolv    = 64 << 10 // bytes of one
)

// noteResolver writes down once how a process asks for names.
func (r *running) noteResolver(pid int, netns uint64) {
	if r.resolvers[pid] {
		return
	}
	if len(r.resolvers) >= mostResolvers { // those that ended make room: a recorder of days meets many
		for other := range r.resolvers {
			if _, err := os.Lstat(fmt.Sprintf("%s/%d", r.env.Proc, other)); os.IsNotExist(err) {
				delete(r.resolvers, other)
			}
		}
		if len(r.resolvers) >= mostResolvers {
			return
		}
	}
	r.resolvers[pid] = true
	f, err := procroot.Open(r.env.Proc, pid, "/etc/resolv.conf", 0, true)
	if err != nil {
		return // the verdict does without: it says what was measured
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return
	}
	raw, err := io.ReadAll(io.LimitReader(f, mostResolv))
	if err != nil {
		return
	}
	r.env.Sink.Append(recording.Fact{
		T: r.env.Now(), Name: fmt.Sprintf("resolver.%d", pid), Netns: netns, Value: parseResolver(raw).String(),
		Source: fmt.Sprintf("/proc/%d/root/etc/resolv.conf", pid),
	})
}
