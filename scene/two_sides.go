package scene

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// Served is all that two captures, one from each end, told of the requests to one
// server.
type Served struct {
	Subject recording.Subject
	Server  string // address:port, as the client's capture has it
	N       uint64
	Sums    recording.RequestSecond // of all
	Usual   float64                 // the median wait, s, an upper bound
	Bound   float64                 // what waited longer is late, s; 0: there are too few to say
	Late    []recording.Request     // of the slowest, which have rows, those over Bound (without one, over aloneLate), over Network, or unlike others of their name
	Longest float64                 // that the server had one, s
	Network float64                 // what was on the network for longer is late too, s
	seconds Service
}

// Requests of which there are too few to know what is usual: fewServed are the least
// from which a median tells something, and fewFactor times that is late; aloneLate is
// what one alone must take to be spoken of.
const (
	fewServed = 5
	fewFactor = 10
	aloneLate = 0.5 // s
	// onNetwork is the least time on the network that is late, where it is a multiple of
	// the usual one: a lost segment that nothing follows costs 0.2 s at least
	// (TCP_RTO_MIN, include/net/tcp.h). What a server does takes long by design now and
	// then; the way there does not.
	onNetwork = 0.15 // s
)

// TwoSided sums up what two captures told, by server.
func TwoSided(r *recording.Recording) []*Served {
	by := map[string]*Served{}
	var out []*Served
	for _, row := range slices.SortedStableFunc(slices.Values(r.RequestSeconds), func(a, b recording.RequestSecond) int { return cmp.Compare(a.T, b.T) }) {
		if row.Connect || row.Server == "others" {
			continue
		}
		v := by[row.Server]
		if v == nil {
			v = &Served{Server: row.Server, Subject: recording.Subject{Kind: recording.KindPeer, Proto: "tcp", Remote: row.Server}}
			by[row.Server] = v
			out = append(out, v)
		}
		v.add(row)
	}
	for _, v := range out {
		v.measure()
	}
	for _, q := range r.Requests {
		v := by[q.Server]
		if v == nil || q.Name == "connect" {
			continue
		}
		v.Longest = max(v.Longest, q.AtServer)
		if q.Wait >= v.least() || v.Network > 0 && q.Network >= v.Network || unlike(q) {
			v.Late = append(v.Late, q)
		}
	}
	return out
}

// unlike: it waited many times as long as others of its name do. What a name takes long
// for by design, all of it take long for.
func unlike(q recording.Request) bool {
	return q.Alike >= fewServed && q.Usual > 0 && q.Wait >= max(aloneLate, fewFactor*q.Usual)
}

// least is the wait from which a request is looked at.
func (v *Served) least() float64 {
	if v.Bound == 0 {
		return aloneLate
	}
	return v.Bound
}

func (v *Served) add(row recording.RequestSecond) {
	v.N += row.N
	s := &v.Sums
	s.N += row.N
	s.Sum += row.Sum
	s.Max = max(s.Max, row.Max)
	s.ServerSum += row.ServerSum
	s.Network += row.Network
	s.LostOut += row.LostOut
	s.LostBack += row.LostBack
	s.Unanswered += row.Unanswered
	s.ServerHist = addHist(s.ServerHist, row.ServerHist)
	s.NetworkHist = addHist(s.NetworkHist, row.NetworkHist)
	s.Hist = addHist(s.Hist, row.Hist)
	v.seconds.add(recording.Turns{T: row.T, N: row.N, Sum: row.Sum, Max: row.Max, Hist: row.Hist})
}

func addHist(to, from []uint64) []uint64 {
	for len(to) < len(from) {
		to = append(to, 0)
	}
	for i, n := range from {
		to[i] += n
	}
	return to
}

func (v *Served) measure() {
	v.Usual = Quantile(v.Sums.Hist, v.N, 0.5)
	base := v.seconds.betterHalf()
	hist, n := Histogram(base)
	switch {
	case n >= fewTurns && len(base) >= 2:
		v.Bound = max(lateFloor, lateFactor*Quantile(hist, n, 0.99))
	case v.N >= fewServed:
		v.Bound = max(aloneLate, fewFactor*v.Usual)
	}
	if _, usual := v.Median(); v.N >= fewServed {
		v.Network = max(onNetwork, fewFactor*usual)
	}
}

// Median of the time at the server, and on the network: upper bounds, s.
func (v *Served) Median() (server, network float64) {
	return Quantile(v.Sums.ServerHist, v.N, 0.5), Quantile(v.Sums.NetworkHist, v.N, 0.5)
}

// Felt reports whether so many requests were late, or so late, that users notice it:
// one of a thousand that waits for a lost segment is every network's.
func (v *Served) Felt() bool {
	worst, sum := 0.0, 0.0
	for _, q := range v.Late {
		worst, sum = max(worst, q.Wait), sum+q.Wait
	}
	share, timeShare := v.shares(sum)
	return v.Bound > 0 && (v.late() >= fewLate || worst >= oneLate) && (share >= lateShare || timeShare >= lateTime)
}

// late is how many requests were.
func (v *Served) late() uint64 { return max(over(v.Sums.Hist, v.Bound), uint64(len(v.Late))) }

// shares of all requests, and of their time, that the late ones are.
func (v *Served) shares(sum float64) (share, time float64) {
	return float64(v.late()) / float64(v.N), sum / max(v.Sums.Sum, 1e-9)
}

// twoSidedRequests: requests that waited long by both captures. What a client let pass
// itself is not in it.
func twoSidedRequests(s *Scene, r *recording.Recording) []Symptom {
	var out []Symptom
	for _, v := range TwoSided(r) {
		if !v.Felt() {
			continue
		}
		var active []recording.Interval
		sum, worst, least := 0.0, 0.0, v.Bound
		for _, q := range v.Late {
			sum += q.Wait
			worst, least = max(worst, q.Wait), min(least, q.Wait)
			active = append(active, recording.Interval{Start: q.T, End: q.T.Add(time.Duration((q.Upload + q.Wait) * 1e9))})
		}
		share, timeShare := v.shares(sum)
		out = append(out, onset(Symptom{
			Name: RequestLatency, Subject: v.Subject, Active: intervals.Merge(active, 0), Amount: sum/float64(len(v.Late)) - v.Usual, Unit: "s", Side: BothEnds,
			Share: min(1, max(share, timeShare)),
			Text: fmt.Sprintf("%s of %s requests waited %s and more, up to %s; half of all waited under %s (captures of both ends)",
				units.Count(float64(v.late())), units.Count(float64(v.N)), units.Short(least), units.Short(worst), units.Short(v.Usual)),
		}, s))
	}
	return out
}

// over counts what lies in the buckets from a bound on.
func over(hist []uint64, bound float64) (n uint64) {
	for i, c := range hist {
		if recording.TurnBound(i) >= bound {
			n += c
		}
	}
	return n
}

// BothEnds is the Side of a symptom that was measured at both ends of its flow.
const BothEnds = "both ends"
