package ledger

import (
	"slices"
	"time"

	"snag/recording"
)

// nameServer is one of those that a process asks.
type nameServer struct {
	pid    int
	netns  uint64
	remote string
}

// withNames is the recording with what processes asked name servers among their calls: a
// lookup is a call like any other. One that was given up lasted until then.
func withNames(r *recording.Recording) *recording.Recording {
	if len(r.Queries) == 0 {
		return r
	}
	all := *r
	all.Turns = slices.Clone(r.Turns)
	open := map[nameServer]recording.Turns{}
	for _, q := range r.Queries {
		k := nameServer{q.PID, q.Netns, q.Remote}
		if o, ok := open[k]; q.Asked > 0 && q.Answered == 0 && q.GaveUp == 0 && q.Open == 0 && q.Unknown == 0 && q.Measured == 0 {
			if !ok {
				o = recording.Turns{T: q.T, Netns: q.Netns, Role: string(Calls), Remote: q.Remote, Proto: "udp", PID: q.PID, Comm: q.Comm}
			}
			o.Open += q.Asked
			open[k] = o
		} else {
			delete(open, k)
		}
		all.Turns = append(all.Turns, recording.Turns{
			T: q.T, Netns: q.Netns, Role: string(Calls), Remote: q.Remote, Proto: "udp", PID: q.PID, Comm: q.Comm, Measured: q.Measured,
			N: q.Answered + q.GaveUp, Sum: q.Sum + q.GaveUpSum, Max: max(q.Max, q.GaveUpMax), Open: q.Open, Oldest: q.Oldest,
		})
	}
	for _, o := range open { // until the end
		o.Oldest = r.Manifest.End.Sub(o.T).Seconds()
		o.T = r.Manifest.End.Add(-time.Second)
		all.Turns = append(all.Turns, o)
	}
	return &all
}
