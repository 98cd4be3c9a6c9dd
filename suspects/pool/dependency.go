package pool

import (
	"cmp"
	"maps"
	"math"
	"sort"

	"snag/internal/sorting"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
)

// dependency is a peer that a process asks, with how long that takes.
type dependency struct {
	process *pool
	remote  string // address:port
	netns   uint64
	calls   recording.Turns // of the process to it, summed
	worst   float64         // longest, s: ended, or still open
	active  []recording.Interval
	others  float64 // s: of calls to other peers that are slow too
	socket  *scene.Socket
	waiters int // most threads in a look that waited on its sockets
	waited  int // looks in which one did
	looks   int
}

// longCall is the least mean time of a call from which the caller's answers suffer
// as people notice it; calls within a data centre take 0.1 to 20 ms.
const longCall = 0.1

// givenUp is how soon a call is given up at the earliest, s: timeouts are of seconds.
const givenUp = 1

// answersAll reports that each call was answered, and before its caller would have given it up: what its own
// answers fail for is something else.
func (d *dependency) answersAll() bool { return d.calls.N > 0 && d.calls.Cut == 0 && d.worst < givenUp }

// dependenciesOf are the peers that a process waits for, the one that takes most of
// its time first.
func dependenciesOf(p *pool, r *recording.Recording, window recording.Interval) []*dependency {
	all := map[string]*dependency{}
	get := func(remote string, netns uint64) *dependency {
		d := all[remote]
		if d == nil {
			d = &dependency{process: p, remote: remote, netns: netns}
			all[remote] = d
		}
		return d
	}
	for _, t := range r.Turns {
		if t.Role != "call" || p.worker(t.PID) == nil || t.Remote == "others" {
			continue
		}
		d := get(t.Remote, t.Netns)
		d.calls.N += t.N
		d.calls.Sum += t.Sum
		d.calls.Cut += t.Cut
		d.worst = max(d.worst, t.Max, t.Oldest)
		d.calls.Open = max(d.calls.Open, t.Open)
		if t.N > 0 && t.Sum/float64(t.N) >= longCall || t.Oldest >= longCall {
			d.active = append(d.active, measure.OneSecond(t.T))
		}
	}
	looks := p.looks()
	for _, l := range looks {
		waits := map[string]int{}
		for _, row := range l.Rows {
			k := measure.SocketAt(p.worker(row.PID), row)
			if k == nil || k.Listener != nil || k.Listening() || k.First().Remote == "" || !measure.ReadCalls[row.Syscall] {
				continue
			}
			d := get(k.First().Remote, k.First().Netns)
			d.socket = k
			waits[d.remote]++
		}
		for remote, n := range waits {
			all[remote].waited++
			all[remote].waiters = max(all[remote].waiters, n)
		}
	}
	var out []*dependency
	for _, d := range all {
		d.looks = len(looks)
		d.active = intervals.Merge(d.active, measure.Joined)
		for _, k := range p.sockets() {
			if d.socket == nil && k.First().Remote == d.remote && k.Listener == nil {
				d.socket = k
			}
		}
		out = append(out, d)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].calls.Sum != out[j].calls.Sum {
			return out[i].calls.Sum > out[j].calls.Sum
		}
		return out[i].remote < out[j].remote
	})
	return out
}

// mean time of a call, s; of calls that never ended, the age of the oldest.
func (d *dependency) mean() float64 {
	if d.calls.N == 0 {
		return d.worst
	}
	return d.calls.Sum / float64(d.calls.N)
}

// waitedIn is how long the call takes that is met at a moment on average, s: a few long ones among
// many short ones are most of what is waited for.
func (d *dependency) waitedIn(r *recording.Recording) float64 {
	sum, squares := 0.0, 0.0
	for _, t := range r.Turns {
		if t.Role != "call" || t.Remote != d.remote || d.process.worker(t.PID) == nil {
			continue
		}
		for i, n := range t.Hist {
			took := (recording.TurnBound(i) + recording.TurnBound(i+1)) / 2
			sum += float64(n) * took
			squares += float64(n) * took * took
		}
	}
	return squares / max(sum, 1e-9)
}

// slowerBy is how many times as long calls take as in the best quarter of their seconds where
// the peer has become slow; of fewAtBest calls there the mean tells something.
const (
	slowerBy  = 2.5
	fewAtBest = 5
)

// tolerable reports that calls take less than people tolerate, and about what they took all along.
func (d *dependency) tolerable(r *recording.Recording) bool {
	mean := d.mean()
	if mean >= ledger.Intolerable {
		return false
	}
	by := map[recording.Time]recording.Turns{}
	for _, t := range r.Turns {
		if t.Role == "call" && t.Remote == d.remote && t.N > 0 && d.process.worker(t.PID) != nil {
			sum := by[t.T]
			sum.N, sum.Sum = sum.N+t.N, sum.Sum+t.Sum
			by[t.T] = sum
		}
	}
	seconds := sorting.Collect(maps.Values(by), func(a, b recording.Turns) int {
		return cmp.Compare(a.Sum/float64(a.N), b.Sum/float64(b.N))
	})
	n, best := uint64(0), 0.0
	for _, one := range seconds[:(len(seconds)+3)/4] {
		n, best = n+one.N, best+one.Sum
	}
	return mean < longCall || n < fewAtBest || mean < slowerBy*best/float64(n)
}

// path is how much of a call's time the way there and back takes: the smoothed round
// trip of a connection to the peer, s, and whether segments had to be sent again.
func (d *dependency) path() (rtt float64, again int, known bool) {
	for _, k := range d.process.sockets() {
		if k.First().Remote != d.remote || k.Last().TCP == nil {
			continue
		}
		a, b := k.First().TCP, k.Last().TCP
		known = true
		if rtt == 0 || b.MinRTT > 0 {
			rtt = math.Max(rtt, b.MinRTT)
		}
		if a != nil {
			again += max(0, b.TotalRetrans-a.TotalRetrans)
		}
	}
	return rtt, again, known
}

// port is the service's, in words.
func (d *dependency) port() string {
	switch recording.Port(d.remote) {
	case "53":
		return "DNS"
	case "3306":
		return "MySQL"
	case "5432":
		return "PostgreSQL"
	case "6379":
		return "Redis"
	case "27017":
		return "MongoDB"
	case "11211":
		return "memcached"
	}
	return ""
}

// tookInside is how long the pool's own answers took after the request was read, the
// sum and the mean.
func tookInside(r *recording.Recording, p *pool, window recording.Interval) (sum, mean float64, n uint64) {
	t := p.turns(r, "serve", "", []recording.Interval{window})
	if t.N == 0 {
		return 0, 0, 0
	}
	sum = math.Max(0, t.Sum-t.Wait)
	return sum, sum / float64(t.N), t.N
}
