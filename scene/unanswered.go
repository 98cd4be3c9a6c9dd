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

// Unanswered are connections to one address that get no answer to their SYNs: no SYN-ACK, and
// nothing that refuses them.
type Unanswered struct {
	Netns   uint64 // of who asks
	Remote  string
	Subject recording.Subject // the listener, where it is on this host, else the peer
	PIDs    []int             // that ask
	Again   float64           // SYNs that were sent again
	Waiting float64           // connections that waited at a moment, on average over the window
	Longest float64           // s for which one was seen to wait
	Active  []recording.Interval
}

const (
	// A program that asks so many addresses, a few times each, looks for who is there.
	looksAround, fewEach = 5, 10
	// Who serves others and has one connection that waits probes whether a peer is back.
	oneProbe = 1.5
	leastOne = 0.3
)

// UnansweredConnects are the addresses from which no SYN got an answer for as long as any were sent
// again, three at the least, and to which no connection came about meanwhile.
func UnansweredConnects(s *Scene, r *recording.Recording) (out []*Unanswered) {
	type key struct {
		netns  uint64
		remote string
	}
	by := map[key]*Unanswered{}
	for _, t := range r.Retransmits {
		if t.State != "SYN_SENT" || t.PID == r.Manifest.SelfPID && t.PID != 0 {
			continue
		}
		k := key{namespaceOf(r, t.Netns), t.Remote}
		u := by[k]
		if u == nil {
			u = &Unanswered{Netns: k.netns, Remote: t.Remote, Subject: callee(s, recording.Turns{Netns: k.netns, Remote: t.Remote, PID: t.PID, Comm: t.Comm})}
			by[k] = u
			out = append(out, u)
		}
		if t.PID != 0 && !slices.Contains(u.PIDs, t.PID) {
			u.PIDs = append(u.PIDs, t.PID)
		}
		u.Again += float64(t.N)
		at := second(t.T) // it was sent first a second before, or longer ago
		u.Active = intervals.Merge(append(u.Active, recording.Interval{Start: max(s.Window.Start, at.Start.Add(-time.Second)), End: at.End}), 2*time.Second)
	}
	length := s.Window.End.Sub(s.Window.Start).Seconds()
	for _, k := range s.Sockets {
		f, l := k.First(), k.Last()
		if u := by[key{f.Netns, f.Remote}]; u != nil && f.State == "SYN_SENT" {
			waited := l.T.Sub(f.T).Seconds()
			u.Longest = max(u.Longest, waited)
			u.Waiting += (waited + 1) / max(length, 1) // it is looked at once a second
		}
	}
	asks := map[int]int{}
	for _, u := range out {
		if u.Subject.Kind == recording.KindListener {
			continue // somebody here waits for it: it was told to come there
		}
		for _, pid := range u.PIDs {
			asks[pid]++
		}
	}
	return slices.DeleteFunc(out, func(u *Unanswered) bool {
		around := slices.ContainsFunc(u.PIDs, func(pid int) bool { return asks[pid] >= looksAround })
		serves := slices.ContainsFunc(u.PIDs, func(pid int) bool { return s.listens(pid) })
		return u.Again < fewSlow || around && u.Again < fewEach || opened(r, u) || u.Waiting < leastOne || serves && u.Waiting < oneProbe
	})
}

func namespaceOf(r *recording.Recording, netns uint64) uint64 { return cmp.Or(netns, r.Manifest.Netns) }

// opened reports whether a connection came about while the others waited: not one of those, of
// which nobody saw the beginning, in the second in which the wait ended.
func opened(r *recording.Recording, u *Unanswered) bool {
	ends := u.Active[len(u.Active)-1].End.Add(-3 * time.Second / 2)
	return slices.ContainsFunc(r.Connections, func(c recording.Connections) bool {
		return c.Role == "connect" && c.Opened > 0 && c.Remote == u.Remote && (c.Handshake > 0 || c.T < ends) && namespaceOf(r, c.Netns) == u.Netns && intervals.Cover(u.Active, c.T.Add(time.Second/2))
	})
}

// listens reports whether a process serves others over TCP.
func (s *Scene) listens(pid int) bool {
	p := s.Process(pid)
	return p != nil && slices.ContainsFunc(p.Sockets, func(k *Socket) bool { return k.Listening() })
}

// ofOneHost takes together what the same process asks of several ports of an address, which it
// is told one after the other: the data connections of FTP.
func ofOneHost(all []*Unanswered) (out []*Unanswered) {
	ports := map[*Unanswered]int{}
	for _, u := range all {
		i := slices.IndexFunc(out, func(o *Unanswered) bool {
			return o.Netns == u.Netns && recording.Host(o.Remote) == recording.Host(u.Remote) && slices.Equal(o.PIDs, u.PIDs) && len(u.PIDs) > 0
		})
		if i < 0 {
			one := *u
			out = append(out, &one)
			ports[&one] = 1
			continue
		}
		o := out[i]
		ports[o]++
		o.Again, o.Waiting, o.Longest = o.Again+u.Again, o.Waiting+u.Waiting, max(o.Longest, u.Longest)
		o.Active = intervals.Merge(append(o.Active, u.Active...), 0)
	}
	for _, o := range out {
		if n := ports[o]; n > 1 {
			o.Remote = fmt.Sprintf("%d ports of %s", n, recording.Host(o.Remote))
		}
	}
	return out
}

// unansweredConnects: nobody gets in, and no handshake is there to be measured.
func unansweredConnects(s *Scene, r *recording.Recording) (out []Symptom) {
	for _, u := range ofOneHost(UnansweredConnects(s, r)) {
		out = append(out, onset(Symptom{
			Name: ConnectLatency, Subject: u.Subject, Active: u.Active, Amount: u.Waiting, Unit: "connections", Held: u.Waiting, Share: 1,
			Text: fmt.Sprintf("connections to %s get no answer: %.2g wait at any moment, and %s of their SYNs were sent again", u.Remote, u.Waiting, units.Count(u.Again)),
		}, s))
	}
	return out
}
