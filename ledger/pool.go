package ledger

import (
	"slices"

	"snag/scene"
)

// asked is what a process waits for at one destination in a second: its open calls, and how
// many it can have open at most, where it keeps a fixed number of connections for them or has a
// limit. Locked are those that are made one at a time, taken those that need a thread of a few.
type asked struct {
	open, room    float64
	locked, taken bool
}

// full reports that a call would have to wait for a connection.
func (a asked) full() bool { return a.room > 0 && a.open >= poolFull*a.room }

// A pool whose connections are in use for this share of the time has next to never one to
// spare: of the rest each is between two calls.
const poolFull = 0.8

// Of so many looks, a pool is fixed if the number of its connections hardly differs.
const (
	staysFor  = 3
	poolMoves = 0.1
)

// Pool is how many connections a party can have to a destination, all in use while requests
// waited for one.
type Pool struct {
	Party       *Party
	Address     string // of the destination
	Connections int
	// Line are the request-seconds that waited for a connection.
	Line float64
	// Mean time of a call, s; 0: none ended.
	Mean float64
}

// roomAt is how many connections some processes keep to a destination; 0: their number is
// not fixed.
func roomAt(s *scene.Scene, pid int, remotes []string) int {
	p := s.Process(pid)
	if p == nil {
		return 0
	}
	var all []*scene.Socket
	for _, k := range p.Sockets {
		if k.Peer != nil && k.Peer.Owner() == p {
			continue // it asks itself, with many requests on one connection, as etcd's gateway does
		}
		if f := k.First(); (f.Proto == "tcp" || f.Proto == "unix") && !k.Listening() && slices.Contains(remotes, f.Remote) {
			all = append(all, k)
		}
	}
	least, most, looks := s.Stayed(all)
	if looks < staysFor || float64(most-least) > poolMoves*float64(most) {
		return 0
	}
	return most
}

// pools are those for whose connections requests waited.
func (l *Ledger) pools() (out []Pool) {
	calls := map[string]*Party{}
	for _, p := range l.Parties {
		if p.Role == Calls {
			calls[address(p.Subject)] = p
		}
	}
	for _, p := range l.Parties {
		for _, e := range p.Entries {
			if e.pool == 0 {
				continue
			}
			pool := Pool{Party: p, Address: e.Where, Connections: e.pool, Line: e.InLine}
			if c := calls[e.Where]; c != nil {
				pool.Mean = c.Mean
			}
			out = append(out, pool)
		}
	}
	return out
}
