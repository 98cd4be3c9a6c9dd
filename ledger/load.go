package ledger

import (
	"cmp"
	"slices"
	"strings"

	"snag/internal/sorting"
	"snag/recording"
	"snag/scene"
)

// Load is snag's own load as a party: what its requests waited for, and how much of that the ledger of
// the service that it asked accounts for.
type Load struct {
	Row recording.Load
	// Server is the service that it asked, where it is on this host. NotSeen is why nothing is known of
	// the requests there; "": they were seen at its sockets.
	Server  *Party
	NotSeen string
	// AtServer is for how long the service had a request open, of Row.Parts.Answer, on average, s.
	// Within is by how much its share of Answer may be off (95 %); nil: nobody can tell.
	AtServer float64
	Within   *float64
	// Spent are the parts of AtServer, the greatest first.
	Spent []Spent
}

// Spent is a part of the time for which a service had a request open.
type Spent struct {
	Account Account
	Where   string
	// InLine: no thread was free for the request, or no connection to Where (Pool).
	InLine, Pool bool
	Seconds      float64 // of each answer, on average
}

// Words are what it is called after a time: "50 ms waiting for a worker".
func (p Spent) Words() string {
	switch {
	case p.InLine && p.Pool:
		return "waiting for a connection to " + p.Where
	case p.InLine:
		return "waiting for a worker"
	case p.Account == Call && p.Where != "":
		return "waiting for " + p.Where
	case p.Account == Unseen:
		return "at the service, not seen at what"
	}
	return p.Account.Words()
}

// Accounted is the part of AtServer of which it is known what it was spent on, s.
func (l Load) Accounted() (seconds float64) {
	for _, p := range l.Spent {
		if p.Account != Unseen {
			seconds += p.Seconds
		}
	}
	return seconds
}

// Share is the part of the time since a request was sent that is accounted for at the service; false where
// nobody can tell.
func (l Load) Share() (share float64, ok bool) {
	if l.NotSeen != "" || l.Row.Parts == nil || l.Row.Parts.Answer <= 0 {
		return 0, false
	}
	return min(1, l.Accounted()/l.Row.Parts.Answer), true
}

// Between is the part of the time since a request was sent in which the service did not have it, s: on the
// way, and until snag had read the answer.
func (l Load) Between() float64 { return max(0, l.Row.Parts.Answer-l.AtServer) }

// mostLoads are judged; a recording of snag's own has one.
const mostLoads = 8

// loads are the loads of a recording; unseen has those of whose requests nothing was seen at the sockets of
// the service.
func (l *Ledger) loads(s *scene.Scene, r *recording.Recording, unseen map[int]bool) (out []Load) {
	_, looked := r.Measured("sockets.diag")
	for i, row := range r.Loads[:min(len(r.Loads), mostLoads)] {
		one := Load{Row: row}
		at := calledBy(s, r, row)
		if at != nil {
			one.Server = l.serverAt(scene.IDOf(at.Subject), scene.Address(row.Remote))
		}
		switch {
		case row.Parts == nil:
			one.NotSeen = "no request was answered"
		case at == nil && !looked:
			one.NotSeen = "the sockets of this host were not measured"
		case at == nil:
			one.NotSeen = "nobody on this host listens at " + row.Remote
		case one.Server == nil:
			one.NotSeen = "its requests, or some of them, were not seen at its sockets"
		case unseen[i]:
			one.NotSeen = "its sockets do not show the requests of this protocol"
		default:
			one.atServer(r, at)
		}
		out = append(out, one)
	}
	return out
}

// calledBy is the listener, or the UDP socket, that a load asks; nil where it is not on this host.
func calledBy(s *scene.Scene, r *recording.Recording, row recording.Load) *scene.Socket {
	return Asked(s, r, row.Netns, row.Proto, row.Remote)
}

// Asked is the listener, or the UDP socket, that an address:port leads to from a network namespace; nil where it
// is not on this host. proto is tcp or udp.
func Asked(s *scene.Scene, r *recording.Recording, netns uint64, proto, remote string) *scene.Socket {
	as := recording.Turns{Role: string(Calls), Netns: netns, Remote: scene.Address(remote)}
	if proto == "udp" {
		as.Proto = "udp"
	}
	at := s.Callee(as)
	if at == nil || !isHere(s, r, at, as.Remote) {
		return nil
	}
	return at
}

// isHere reports whether an address is this host's: a listener at all addresses of a port is at no other host's.
func isHere(s *scene.Scene, r *recording.Recording, at *scene.Socket, address string) bool {
	host := recording.Host(address)
	if at.First().Local == address || scene.OnLoopback(host) {
		return true
	}
	if slices.ContainsFunc(s.Sockets, func(k *scene.Socket) bool { return k.Listener == at && k.First().Local == address }) {
		return true
	}
	return slices.ContainsFunc(r.Netns, func(n recording.Netns) bool {
		return n.ID == at.First().Netns && slices.ContainsFunc(n.Addrs, func(a string) bool {
			_, prefix, _ := strings.Cut(a, " ")
			own, _, _ := strings.Cut(prefix, "/")
			return own == host
		})
	})
}

// serverAt is who serves at a listener, and at that address of it where it has several.
func (l *Ledger) serverAt(listener scene.NodeID, address string) (found *Party) {
	for _, p := range l.Parties {
		if p.Role == Serves && scene.IDOf(p.Subject) == listener && (found == nil || p.local == address) {
			found = p
		}
	}
	return found
}

// atServer compares what the sockets of the service show of the load's requests with what the load measured.
func (l *Load) atServer(r *recording.Recording, at *scene.Socket) {
	rows := servedTo(r, l.Row, at)
	n, sum := uint64(0), 0.0
	for _, row := range rows {
		n, sum = n+row.N, sum+row.Sum
	}
	answer := l.Row.Parts.Answer
	if n == 0 || l.Server.Demand <= 0 || answer <= 0 {
		l.NotSeen = "none of its requests was seen at its sockets"
		return
	}
	nagle := 0.0 // what held the answer after it was written is in no turn
	if l.Server.Answered > 0 {
		nagle = l.Server.Of(Nagle) / float64(l.Server.Answered)
	}
	l.AtServer = min(answer, sum/float64(n)+nagle)
	if off, ok := ratioOff(r, l.Row, rows); ok {
		// Requests of others from the same address can't be told from the load's, nor are some of these seen.
		counted, asked := float64(n)/r.ShareOf("sockets.turns"), float64(l.Row.Answered)
		off += l.AtServer / answer * abs(counted-asked) / max(counted, asked)
		l.Within = &off
	}
	l.Spent = spentAt(l.Server, l.AtServer)
}

// spentAt parts a time of each request by what a service was found in.
func spentAt(p *Party, seconds float64) (out []Spent) {
	add := func(s Spent) {
		if s.Seconds <= 0 {
			return
		}
		for i := range out {
			if out[i].Words() == s.Words() {
				out[i].Seconds += s.Seconds
				return
			}
		}
		out = append(out, s)
	}
	for _, e := range p.Entries {
		part := seconds / p.Demand
		line := min(e.InLine, e.Seconds)
		add(Spent{Account: e.Account, Where: e.Where, InLine: true, Pool: e.pool > 0, Seconds: line * part})
		add(Spent{Account: e.Account, Where: e.Where, Seconds: (e.Seconds - line) * part})
	}
	sorting.StableBy(out, func(a, b Spent) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return out
}

func abs(v float64) float64 { return max(v, -v) }
