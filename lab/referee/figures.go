// Package referee tells from the clients' own logs whether they noticed a fault: what
// they measured in a run with it, beside what they measured in the same run without. It is
// not snag and knows nothing of it.
package referee

import (
	"slices"
	"time"

	"snag/lab/clientlog"
)

// Figures are what the clients of one service measured in a window.
type Figures struct {
	Requests int     `json:"requests,omitempty"` // that began in it, or were open when it began
	Rate     float64 `json:"rate,omitempty"`     // of them, per second
	Mean     float64 `json:"mean_seconds,omitempty"`
	Late     float64 `json:"late_seconds,omitempty"` // of the mean: until the client had a connection to ask on
	P50      float64 `json:"p50_seconds,omitempty"`
	P99      float64 `json:"p99_seconds,omitempty"`
	// Failed and Lost are shares of the requests: answered with an error, never answered.
	Failed float64 `json:"failed,omitempty"`
	Lost   float64 `json:"lost,omitempty"`
	// Longest are the lengths of the slowest fiftieth of the requests, seconds, in order:
	// what the p99 is of.
	Longest []float64 `json:"longest_seconds,omitempty"`

	Datagrams     int     `json:"datagrams,omitempty"` // sent
	DatagramsLost float64 `json:"datagrams_lost,omitempty"`

	Delivered float64 `json:"delivered_per_second,omitempty"` // pieces of streams

	// Silence is the longest time in which a request was open, or a stream was due, and
	// nothing came, seconds.
	Silence float64 `json:"longest_silence_seconds,omitempty"`
}

// Window is a stretch of time.
type Window struct{ From, To time.Time }

func (w Window) has(t time.Time) bool { return !t.Before(w.From) && t.Before(w.To) }

func (w Window) seconds() float64 { return w.To.Sub(w.From).Seconds() }

// Measure makes the figures of a service from the logs of all its clients.
func Measure(logs []clientlog.Log, w Window) Figures {
	var f Figures
	var failed, lost, sent, arrived, delivered int
	var lengths []float64
	for _, l := range logs {
		for _, r := range l.Requests {
			// Clients that were stuck when the window began are stuck in it.
			if stuck := r.Start.Before(w.From) && r.Start.Add(r.Length).After(w.From); !stuck && !w.has(r.Start) {
				continue
			}
			lengths = append(lengths, r.Length.Seconds())
			f.Late += min(r.Late, r.Length).Seconds()
			switch r.Outcome {
			case clientlog.Failed:
				failed++
			case clientlog.Lost:
				lost++
			}
		}
		sent += sum(l.Sent, w)
		arrived += sum(l.Arrived, w)
		delivered += sum(l.Delivered, w)
		if len(l.Delivered) > 0 {
			f.Silence = max(f.Silence, silenceOfStream(l.Delivered, w))
		}
	}
	slices.Sort(lengths)
	f.Requests = len(lengths)
	if n := float64(f.Requests); n > 0 {
		f.Rate, f.Late = n/w.seconds(), f.Late/n
		for _, l := range lengths {
			f.Mean += l / n
		}
		f.P50, f.P99 = quantile(lengths, 0.5), quantile(lengths, 0.99)
		f.Longest = lengths[len(lengths)-min(len(lengths), len(lengths)/50+10):]
		f.Failed, f.Lost = float64(failed)/n, float64(lost)/n
	}
	f.Silence = max(f.Silence, silenceOfRequests(logs, w))
	if f.Datagrams = sent; sent > 0 {
		// What was under way at the window's ends makes a difference of a few.
		f.DatagramsLost = max(0, 1-float64(arrived)/float64(sent))
	}
	f.Delivered = float64(delivered) / w.seconds()
	return f
}

func sum(counts []clientlog.Count, w Window) (n int) {
	for _, c := range counts {
		if w.has(c.At) {
			n += c.N
		}
	}
	return n
}

// quantile of sorted values: the nearest rank.
func quantile(v []float64, q float64) float64 {
	return v[min(len(v)-1, int(q*float64(len(v))))]
}

// silenceOfStream is the longest gap between two deliveries, the window's ends among them.
func silenceOfStream(counts []clientlog.Count, w Window) float64 {
	last, longest := w.From, time.Duration(0)
	for _, c := range counts {
		if c.N == 0 || c.At.Before(w.From) {
			continue
		}
		if c.At.After(w.To) {
			break
		}
		longest = max(longest, c.At.Sub(last))
		last = c.At
	}
	return max(longest, w.To.Sub(last)).Seconds()
}

// silenceOfRequests is the longest time in which at least one request was open and none,
// of any client, was answered.
func silenceOfRequests(logs []clientlog.Log, w Window) float64 {
	type edge struct {
		at       time.Time
		open     int
		answered bool
	}
	var edges []edge
	for _, l := range logs {
		for _, r := range l.Requests {
			end := r.Start.Add(r.Length)
			if end.Before(w.From) || r.Start.After(w.To) {
				continue
			}
			edges = append(edges, edge{r.Start, 1, false}, edge{end, -1, r.Outcome == clientlog.OK})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return a.at.Compare(b.at) })
	open, since, longest := 0, w.From, time.Duration(0)
	silent := func(until time.Time) {
		if open > 0 {
			longest = max(longest, min(until.Sub(since), until.Sub(w.From), w.To.Sub(since)))
		}
	}
	for _, e := range edges {
		switch {
		case e.open > 0 && open == 0:
			since = e.at
		case e.answered || open+e.open == 0:
			silent(e.at)
			since = e.at
		}
		open += e.open
	}
	silent(w.To)
	return longest.Seconds()
}
