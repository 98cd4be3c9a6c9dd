package readers

import (
	"net/netip"
	"time"

	"snag/recording"
)

// What told what a server did inside of a request (recording.Request.InsideBy), but for
// the trace of its calls.
const (
	byTurns   = "turns"   // the request turns of its sockets, by second
	bySockets = "sockets" // looks at its queues, once a second
)

// serverLook is a recording of snag's, taken on a server while its connections were
// captured.
type serverLook struct {
	r     *recording.Recording
	moved time.Duration // that its times are behind the recording's that is made
}

const (
	// turnLate: a turn is told of at the end of the second in which it ended, and the
	// second of a busy host may be late.
	turnLate = 3 * time.Second
	// asLong: a turn lasts as long as the server had the request, and until the last byte
	// of its answer was sent.
	asLong = 0.8
	// ownPart: what other turns of the row took must be this little of it.
	ownPart = 0.1
	// leastSeconds is how long a server must have had a request for looks once a second
	// to tell anything.
	leastSeconds = 3
)

// looksOf are the recordings that were given, or those that they were made of.
func looksOf(given given, moved func(path string) time.Duration) (out []serverLook) {
	for _, path := range given.recordings {
		r := given.open[path]
		parts := r.Parts
		if len(parts) == 0 {
			parts = []*recording.Recording{r}
		}
		for _, p := range parts {
			out = append(out, serverLook{p, moved(path)})
		}
	}
	return out
}

// inside adds to a request what the server did with it, by the recordings of its host; no
// word of it where none tells.
func inside(q *recording.Request, looks []serverLook) {
	if q.Unread != nil || q.N != 1 || q.Parts != 1 || q.Name == "connect" || q.AtServer <= 0 {
		return
	}
	out := q.Network / 2
	if q.Out != nil {
		out = *q.Out
	}
	came := q.T.Add(time.Duration((q.Upload + out) * 1e9))
	server, client := or(q.ServerAt, q.Server), or(q.ClientAt, q.Client)
	for _, l := range looks {
		came := came.Add(-l.moved)
		if l.turn(q, server, client, came) || l.queue(q, server, client, came) {
			return
		}
	}
}

// turn finds the row of the second in which the answer was sent: where the request was
// the only one from its client, or took nearly all of the row's time.
func (l serverLook) turn(q *recording.Request, server, client string, came recording.Time) bool {
	if c, ok := l.r.Measured("sockets.turns"); !ok || c.InSlices() {
		return false
	}
	left := came.Add(time.Duration((q.AtServer + q.Download) * 1e9))
	var found *recording.Turns
	for i := range l.r.Turns {
		row := &l.r.Turns[i]
		if row.Role != "serve" || row.N == 0 || row.Remote != recording.Host(client) || !isAt(row.Local, server) {
			continue
		}
		if row.T < left.Add(-time.Second) || row.T > left.Add(turnLate) || row.Max < asLong*q.AtServer || row.Max > (q.AtServer+q.Download)/asLong+0.25 {
			continue
		}
		if found != nil {
			return false // two like it: nothing tells them apart
		}
		found = row
	}
	if found == nil {
		return false
	}
	others := max(0, found.Sum-found.Max)
	if others > ownPart*found.Max {
		return false
	}
	unread := min(max(0, found.Wait-others), q.AtServer)
	unsent := min(l.held(server, client, found.T), q.AtServer-unread)
	within := q.AtServer - unread - unsent
	q.Unread, q.Inside, q.Unsent = &unread, &within, &unsent
	q.PID, q.Comm, q.InsideBy = found.PID, found.Comm, byTurns
	return true
}

// held is how long a write of the connection was held back in that second, s.
func (l serverLook) held(server, client string, at recording.Time) (longest float64) {
	for _, h := range l.r.Holds {
		if h.Remote == client && isAt(h.Local, server) && h.T >= at.Add(-time.Second) && h.T <= at.Add(time.Second) {
			longest = max(longest, h.HoldMax)
		}
	}
	return longest
}

// queue looks at the connection's receive queue: while the request lay there nobody had
// read it. Looks are a second apart, so of a request that took a few seconds only.
func (l serverLook) queue(q *recording.Request, server, client string, came recording.Time) bool {
	if q.AtServer < leastSeconds {
		return false
	}
	looks, full, owner := 0, 0, recording.FDRef{}
	left := came.Add(time.Duration(q.AtServer * 1e9))
	for _, row := range l.r.Sockets {
		if row.Proto != "tcp" || row.T < came || row.T > left || !sameEnd(row.Local, server) || !sameEnd(row.Remote, client) {
			continue
		}
		looks++
		if row.RecvQ > 0 {
			full++
		}
		if len(row.Owners) > 0 {
			owner = row.Owners[0]
		}
	}
	if looks < leastSeconds-1 || owner.PID == 0 {
		return false
	}
	none := 0.0
	unread := q.AtServer * float64(full) / float64(looks)
	within := q.AtServer - unread
	q.Unread, q.Inside, q.Unsent = &unread, &within, &none
	q.PID, q.Comm, q.InsideBy = owner.PID, owner.Comm, bySockets
	return true
}

// isAt reports whether a listener or socket at a local address is the one that a capture
// has as the server's: of any address, or of that one.
func isAt(local, server string) bool {
	if sameEnd(local, server) {
		return true
	}
	host := recording.Host(local)
	return recording.Port(local) == recording.Port(server) && (host == "0.0.0.0" || host == "::" || host == "[::]" || host == "*")
}

// sameEnd compares two addresses with ports, however they are written.
func sameEnd(a, b string) bool {
	if a == b {
		return true
	}
	x, err1 := netip.ParseAddrPort(a)
	y, err2 := netip.ParseAddrPort(b)
	return err1 == nil && err2 == nil && x.Port() == y.Port() && x.Addr().Unmap() == y.Addr().Unmap()
}
