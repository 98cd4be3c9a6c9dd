package scene

import (
	"cmp"
	"net"
	"slices"
	"strings"
	"time"

	"snag/internal/sorting"
	"snag/recording"
)

// Service is all that turns tell of one listener, or of one destination that
// this host calls.
type Service struct {
	Subject recording.Subject
	Rows    []recording.Turns // one per second, its peers added up
	PIDs    []int             // that answer, or call
}

// Services adds the rows of one role up by listener or by destination.
func Services(s *Scene, r *recording.Recording, role string) []*Service {
	type key struct {
		netns     uint64
		at, proto string
		log       int
	}
	by := map[key]*Service{}
	var out []*Service
	stray := StrayAlerts(r)
	for _, row := range r.Turns {
		if row.Role != role || row.PID != 0 && row.PID == r.Manifest.SelfPID {
			continue
		}
		at := row.Local
		if role == "call" {
			at = row.Remote
		}
		k := key{netns: row.Netns, at: at, proto: row.Proto}
		if recording.StandsIn(row.PID) {
			k.log = row.PID
		}
		v := by[k]
		if v == nil {
			v = &Service{Subject: serviceSubject(s, row)}
			by[k] = v
			out = append(out, v)
		}
		if stray(row) {
			row.Failed, row.FailedAs = 0, ""
		}
		v.add(row)
		for _, pid := range []int{row.PID, row.SlowPID} {
			if pid != 0 && !slices.Contains(v.PIDs, pid) {
				v.PIDs = append(v.PIDs, pid)
			}
		}
	}
	if role == "serve" {
		takers, heirs := takersOf(s), heirsOf(s, r)
		for _, v := range out {
			for _, pid := range slices.Concat(takers[IDOf(v.Subject)], heirs[IDOf(v.Subject)], siblingsOf(s, v)) {
				if !slices.Contains(v.PIDs, pid) {
					v.PIDs = append(v.PIDs, pid)
				}
			}
		}
	}
	return out
}

// siblingsOf are the processes that hold a listener as those do that were seen to answer there: forked by the same one,
// of the same name. The rows of a second name two that answered, and all of them may.
func siblingsOf(s *Scene, v *Service) (out []int) {
	l := s.ListenerOn(v.Rows[0].Netns, v.Rows[0].Local)
	if l == nil || v.Rows[0].Proto == "udp" {
		return nil
	}
	for _, pid := range v.PIDs {
		answers := s.Process(pid)
		if answers == nil || !slices.Contains(l.Owners, answers) {
			continue
		}
		for _, p := range l.Owners {
			if p.First().PPID == answers.First().PPID && p.Subject.Comm == answers.Subject.Comm {
				out = append(out, p.Subject.PID)
			}
		}
	}
	return out
}

type takersKey struct{}

// takersOf are, for each listener, the processes that have connections which were accepted
// there and that nobody who holds the listener has any more: a login process passes them on
// to one that works for the user. Whoever reads first is in the rows of turns; who answers
// later is not.
func takersOf(s *Scene) map[NodeID][]int {
	return Keep(s, takersKey{}, func() map[NodeID][]int {
		out := map[NodeID][]int{}
		for _, k := range s.Sockets {
			l := k.Listener
			if l == nil || len(k.Owners) == 0 || slices.ContainsFunc(k.Owners, func(p *Process) bool { return slices.Contains(l.Owners, p) }) {
				continue
			}
			for _, p := range k.Owners {
				if !slices.Contains(out[l.ID], p.Subject.PID) {
					out[l.ID] = append(out[l.ID], p.Subject.PID)
				}
			}
		}
		return out
	})
}

type heirsKey struct{}

// heirsOf are, for each listener, the processes that its owner forked and that began or ended in the
// window: a service that forks one for each connection answers by them, and no list of sockets may have
// been read while they lived. Others that it forked do its housekeeping.
func heirsOf(s *Scene, r *recording.Recording) map[NodeID][]int {
	return Keep(s, heirsKey{}, func() map[NodeID][]int {
		ended := map[int]bool{}
		for _, e := range r.Exits {
			ended[e.PID] = true
		}
		by := map[int][]int{}
		for _, row := range r.ThreadStates {
			if row.Parent == 0 || slices.Contains(by[row.Parent], row.PID) {
				continue
			}
			if p := s.Process(row.PID); p == nil || ended[row.PID] || p.First().Start > s.Window.Start {
				by[row.Parent] = append(by[row.Parent], row.PID)
			}
		}
		out := map[NodeID][]int{}
		for _, k := range s.Sockets {
			if !k.Listening() {
				continue
			}
			for _, owner := range k.Owners {
				out[k.ID] = append(out[k.ID], by[owner.Subject.PID]...)
			}
		}
		return out
	})
}

func (v *Service) add(row recording.Turns) {
	if n := len(v.Rows); n == 0 || v.Rows[n-1].T != row.T {
		row.Hist = slices.Clone(row.Hist)
		v.Rows = append(v.Rows, row)
		return
	}
	t := &v.Rows[len(v.Rows)-1]
	t.N += row.N
	t.Sum += row.Sum
	t.Wait += row.Wait
	if t.Failed += row.Failed; row.Failed > 0 {
		t.FailedAs = row.FailedAs
	}
	if t.Cut += row.Cut; row.Cut > 0 {
		t.CutBy = row.CutBy
	}
	t.Missed += row.Missed
	t.Untimed += row.Untimed
	t.Max = max(t.Max, row.Max)
	t.Open += row.Open
	t.Oldest = max(t.Oldest, row.Oldest)
	for len(t.Hist) < len(row.Hist) {
		t.Hist = append(t.Hist, 0)
	}
	for i, n := range row.Hist {
		t.Hist[i] += n
	}
}

// serviceSubject is the listener; of a destination the listener too when it is
// on this host, else the calling process' flow.
func serviceSubject(s *Scene, row recording.Turns) recording.Subject {
	if row.Role == "serve" && recording.StandsIn(row.PID) { // a log, which names no port
		return recording.Subject{Kind: recording.KindProcess, PID: row.PID, Comm: row.Comm}
	}
	if row.Role == "serve" {
		l := s.ListenerOn(row.Netns, row.Local)
		if row.Proto == "udp" {
			l = s.UDPOn(row.Netns, row.Local)
		}
		if l != nil {
			return l.Subject
		}
		return recording.Subject{Kind: recording.KindPort, Netns: row.Netns, Proto: protoOf(row, row.Local), Local: row.Local, PID: row.PID, Comm: row.Comm}
	}
	return callee(s, row)
}

// callee is whom a host calls at that address: its listener when it is here.
func callee(s *Scene, row recording.Turns) recording.Subject {
	if l := s.Callee(row); l != nil {
		return l.Subject
	}
	sub := recording.Subject{Kind: recording.KindPeer, Netns: row.Netns, Proto: protoOf(row, row.Remote), Remote: row.Remote, PID: row.PID, Comm: row.Comm}
	if p := s.Process(row.PID); p != nil && p.Subject.Comm != "" {
		sub.Comm = p.Subject.Comm
	}
	return sub
}

// Callee is the listener on this host that a row of role call asks, or the name server's
// socket; nil for none.
func (s *Scene) Callee(row recording.Turns) *Socket {
	if row.Proto == "udp" {
		return s.nameServerAt(row.Netns, row.Remote)
	}
	return s.listenerOf(row.Netns, row.Remote)
}

// nameServerAt is the UDP socket that an address leads to from a namespace, as listenerOf.
func (s *Scene) nameServerAt(netns uint64, remote string) *Socket {
	if k := s.UDPOn(netns, remote); k != nil && !s.elsewhere(netns, recording.Host(remote)) {
		return k
	}
	if ip := net.ParseIP(recording.Host(remote)); ip == nil || ip.IsLoopback() {
		return nil
	}
	for _, k := range s.Sockets {
		if f := k.First(); f.Proto == "udp" && f.Remote == "" && f.Local == remote {
			return k
		}
	}
	return nil
}

// listenerOf is the listener that an address leads to from a namespace: loopback
// to its own, any other to the namespace that has a socket with that address. A path may be
// shared with any other namespace, an abstract name with none.
func (s *Scene) listenerOf(netns uint64, remote string) *Socket {
	if l := s.ListenerOn(netns, remote); l != nil && !s.elsewhere(netns, recording.Host(remote)) {
		return l
	}
	if recording.IsUnix(remote) {
		for _, k := range s.Sockets {
			if k.Listening() && k.First().Local == remote && !strings.HasPrefix(remote, recording.UnixPrefix+"@") {
				return k
			}
		}
		return nil
	}
	for _, k := range s.Sockets {
		if k.First().Proto == "tcp" && k.First().Local == remote && k.Listener != nil {
			return k.Listener
		}
	}
	if ip := net.ParseIP(recording.Host(remote)); ip == nil || ip.IsLoopback() {
		return nil
	}
	for _, k := range s.Sockets {
		if k.Listening() && k.First().Local == remote {
			return k
		}
	}
	return nil
}

// elsewhere reports whether an address is known not to be one of a namespace: a proxy that listens on a port of all
// addresses asks others at the same port.
func (s *Scene) elsewhere(netns uint64, host string) bool {
	own := s.addresses[netns]
	ip := net.ParseIP(host)
	if len(own) == 0 || ip == nil || ip.IsLoopback() || own[ip.String()] {
		return false
	}
	return !slices.ContainsFunc(s.Sockets, func(k *Socket) bool { // with a local route it takes connections for more
		f := k.First()
		return f.Netns == netns && f.Remote != "" && recording.Host(f.Local) == host
	})
}

// protoOf is by what a row's requests come to an address.
func protoOf(row recording.Turns, address string) string {
	switch {
	case row.Proto != "":
		return row.Proto
	case recording.IsUnix(address):
		return "unix"
	}
	return "tcp"
}

// Histogram adds up seconds.
func Histogram(rows []recording.Turns) (hist []uint64, n uint64) {
	for _, row := range rows {
		for len(hist) < len(row.Hist) {
			hist = append(hist, 0)
		}
		for i, c := range row.Hist {
			hist[i] += c
			n += c
		}
	}
	return hist, n
}

// Quantile is an upper bound of the q-th part of n turns, seconds.
func Quantile(hist []uint64, n uint64, q float64) float64 {
	sum := uint64(0)
	for i, c := range hist {
		sum += c
		if n > 0 && float64(sum) >= q*float64(n) {
			return recording.TurnBound(i + 1)
		}
	}
	return 0
}

// betterHalf are the seconds in which turns were shortest on the whole: what the
// service can do on this machine, today, with these requests.
func (v *Service) betterHalf() []recording.Turns {
	var busy []recording.Turns
	for _, row := range v.Rows {
		if row.N > 0 {
			busy = append(busy, row)
		}
	}
	sorting.StableBy(busy, func(a, b recording.Turns) int {
		return cmp.Compare(a.Sum/float64(a.N), b.Sum/float64(b.N))
	})
	return busy[:(len(busy)+1)/2]
}

// bestPart are the seconds in which turns were shortest: a quarter of those with any, and more
// until they have enough turns to be a measure.
func (v *Service) bestPart() (out []recording.Turns) {
	half, n := v.betterHalf(), uint64(0)
	for i, row := range half {
		if i >= 2 && 2*i >= len(half) && n >= fewTurns {
			break
		}
		n += row.N
		out = append(out, row)
	}
	return out
}

// second is the interval that a row of a second stands for.
func second(t recording.Time) recording.Interval {
	return recording.Interval{Start: t, End: t.Add(time.Second)}
}
