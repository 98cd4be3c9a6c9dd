// Package recorded runs a load and writes what it measured as rows of a recording, and reads the calls of a
// recording as a conversation to send again.
package recorded

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"snag/load"
	"snag/recording"
)

// Total is a whole run. began is from when on its requests counted, on the recording's clock; null is the
// run at an empty server, nil where there was none.
func Total(r, null *load.Result, began recording.Time, netns uint64) recording.Load {
	p := r.Plan
	out := recording.Load{
		T: began, End: began.Add(max(0, r.Took)), Target: p.Target.Name, Proto: p.Target.Network, Netns: netns, Remote: r.Address,
		Local: r.Locals.Host, LocalPorts: r.Locals.Ports, MorePorts: r.Locals.More, Connections: p.Conns, Rate: p.Rate,
		Asked: uint64(r.Asked), Sent: uint64(r.Sent), Answered: uint64(r.Done), Failed: uint64(r.Failed), Unasked: uint64(r.Unasked), Behind: uint64(r.Behind),
		Lost: lost(r.Lost), Deadline: p.Deadline.Seconds(), Late: uint64(r.Late),
		SinceDue: quantiles(r.FromDue), SinceSent: quantiles(r.FromSent), OwnLag: quantiles(r.Lag),
		Parts: parts(r.Parts), SlowParts: parts(r.Slowest(slow)), Open: r.Open, Busy: r.Busy, CPU: r.CPU, NotTheServices: r.Honest(),
	}
	if p.Rate == 0 { // a request is due when its connection is free
		out.SinceDue, out.OwnLag = nil, nil
	}
	if null != nil {
		out.EmptyServer = quantiles(null.FromSent)
	}
	return out
}

// slow is the share of the answers that are the slow ones.
const slow = 0.01

// Second is one second of a run.
func Second(s load.Second, target string, began recording.Time) recording.LoadSecond {
	return recording.LoadSecond{
		T: began, Target: target, Asked: uint64(s.Asked), Sent: uint64(s.Sent), Answered: uint64(s.Done), Failed: uint64(s.Failed), Late: uint64(s.Late),
		Lost: lost(s.Lost), Waiting: s.Waiting, OwnLag: s.OwnLag, Answer: s.Answer, Max: s.Max, Open: s.Open, DueHist: s.DueHist, SentHist: s.SentHist,
	}
}

func lost(by map[load.Kind]int64) map[string]uint64 {
	if len(by) == 0 {
		return nil
	}
	out := map[string]uint64{}
	for kind, n := range by {
		out[string(kind)] = uint64(n)
	}
	return out
}

func quantiles(h *hdrhistogram.Histogram) *recording.Quantiles {
	if h.TotalCount() == 0 {
		return nil // not measured is not zero
	}
	at := func(q float64) float64 { return time.Duration(h.ValueAtQuantile(q)).Seconds() }
	return &recording.Quantiles{Mean: h.Mean() / 1e9, P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: at(100)}
}

func parts(p load.Parts) *recording.LoadParts {
	if p.N == 0 {
		return nil
	}
	n := float64(p.N)
	return &recording.LoadParts{N: uint64(p.N), Waiting: p.Waiting / n, OwnLag: p.OwnLag / n, Answer: p.Answer / n}
}
