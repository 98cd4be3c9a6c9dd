package ledger

import (
	"math"
	"time"

	"snag/recording"
	"snag/scene"
)

// lastAnswers is how long after its end answers to a load come at the most.
const lastAnswers = 2 * time.Second

// servedTo are the turns of a service that are a load's: at the address that it asks, from its own, while it
// ran. Where the rows do not tell peers apart they are all of that address.
func servedTo(r *recording.Recording, row recording.Load, at *scene.Socket) (out []recording.Turns) {
	for _, same := range []bool{true, false} {
		for _, t := range r.Turns {
			if t.Role == string(Serves) && t.Netns == at.First().Netns && scene.Address(t.Local) == scene.Address(row.Remote) &&
				(!same || t.Remote == row.Local) && t.T.Add(time.Second) > row.T && t.T < row.End.Add(lastAnswers) {
				out = append(out, t)
			}
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}

const (
	// fewSeconds are too few to say how much a ratio varies.
	fewSeconds = 5
	// student is the 97.5 % quantile of Student's t with eight degrees of freedom: with more it is less.
	student = 2.31
	// mostSeconds of a load are looked at one by one.
	mostSeconds = 100_000
)

// ratioOff is by how much the ratio of the time at the service to the time since requests were sent may be
// off (95 %). It is estimated from its seconds (W. Cochran, "Sampling Techniques", 1977, 6.4): those of
// requests that wait for each other are not independent, seconds nearly are.
func ratioOff(r *recording.Recording, row recording.Load, served []recording.Turns) (off float64, ok bool) {
	length := min(int(row.End.Sub(row.T)/time.Second), mostSeconds)
	if length < fewSeconds {
		return 0, false
	}
	x, y := make([]float64, length), make([]float64, length)
	for _, t := range served {
		whole := t.Sum
		if t.Measured > 0 { // in slices of the time
			whole /= min(1, t.Measured)
		}
		spreadOver(x, t.T.Sub(row.T).Seconds(), whole)
	}
	for _, s := range r.LoadSeconds {
		if s.Target == row.Target {
			spreadOver(y, s.T.Sub(row.T).Seconds(), s.Answer)
		}
	}
	sumX, sumY := 0.0, 0.0
	for i := range x {
		sumX, sumY = sumX+x[i], sumY+y[i]
	}
	if sumX <= 0 || sumY <= 0 {
		return 0, false
	}
	ratio, squares := sumX/sumY, 0.0
	for i := range x {
		squares += (x[i] - ratio*y[i]) * (x[i] - ratio*y[i])
	}
	n := float64(length)
	return student * math.Sqrt(n/(n-1)*squares) / sumY, true
}

// spreadOver gives each second its part of what is of a second that began at another moment.
func spreadOver(seconds []float64, began, v float64) {
	at := math.Floor(began)
	for i, part := range []float64{1 - (began - at), began - at} {
		if k := at + float64(i); k >= 0 && k < float64(len(seconds)) {
			seconds[int(k)] += part * v
		}
	}
}

// withLoads is the recording with the requests of its loads among the turns of the services that they ask, where
// the sockets show none: in the protocol of the one nobody can tell a request, or nobody measured any. unseen
// are these loads. The time is then the client's.
func withLoads(s *scene.Scene, r *recording.Recording) (all *recording.Recording, unseen map[int]bool) {
	unseen = map[int]bool{}
	for i, row := range r.Loads[:min(len(r.Loads), mostLoads)] {
		at := calledBy(s, r, row)
		if at == nil || at.Owner() == nil || row.NotTheServices != "" || len(servedTo(r, row, at)) > 0 {
			continue
		}
		if len(unseen) == 0 {
			more := *r
			more.Turns = more.Turns[:len(more.Turns):len(more.Turns)]
			r = &more
		}
		unseen[i] = true
		for _, one := range r.LoadSeconds {
			if one.Target == row.Target {
				r.Turns = append(r.Turns, turnOf(one, row, at))
			}
		}
	}
	return r, unseen
}

// turnOf is a second of a load as the service that it asks would have it.
func turnOf(one recording.LoadSecond, row recording.Load, at *scene.Socket) recording.Turns {
	t := recording.Turns{
		T: one.T, Netns: at.First().Netns, Role: string(Serves), Local: row.Remote, Remote: row.Local, PID: at.Owner().Subject.PID, Comm: at.Owner().Subject.Comm,
		N: one.Answered, Sum: one.Answer, Failed: one.Failed, Hist: one.SentHist,
	}
	if row.Proto == "udp" {
		t.Proto = "udp"
	}
	if n := len(one.SentHist); n > 0 {
		t.Max = min(one.Max, recording.TurnBound(n))
	}
	return t
}

// inode is a socket of a process.
type inode struct {
	pid   int
	inode uint64
}

// loadedSockets are the UDP sockets that loads ask: nothing else reports that datagrams which come there are requests.
func loadedSockets(s *scene.Scene, r *recording.Recording) map[inode]bool {
	out := map[inode]bool{}
	for _, row := range r.Loads[:min(len(r.Loads), mostLoads)] {
		if at := calledBy(s, r, row); at != nil && row.Proto == "udp" {
			for _, p := range at.Owners {
				out[inode{p.Subject.PID, at.First().Inode}] = true
			}
		}
	}
	return out
}
