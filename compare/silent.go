package compare

import (
	"slices"
	"strings"

	"snag/ledger"
	"snag/recording"
)

// Silent is a service, or calls to one, that had answers at a good rate in A, and none or nearly none
// in B.
type Silent struct {
	Name         string
	RateA, RateB float64
	// Open requests at B's end, and the age of the oldest, s; those whose connection ended before
	// an answer; and connects to it that failed.
	Open   uint64
	Oldest float64
	Cut    uint64
	Failed uint64

	// Elsewhere: its program runs in B, and does not listen there. Of those in Gone alone.
	Elsewhere bool

	address string
	usual   float64 // s of an answer in A
}

const (
	nearlyNone = 0.1 // of the answers that A's rate makes expect
	hangs      = 1.0 // s, or
	hangsTimes = 10  // as many times A's mean, and a request counts as one without an answer
	fewFail    = 3   // connects or requests may fail by chance
)

// Asked reports whether B's answers are missing though somebody asked.
func (s Silent) Asked() bool {
	return s.Failed >= fewFail || s.Cut >= fewFail || s.Open > 0 && s.Oldest >= max(hangs, hangsTimes*s.usual)
}

// silent notes a party of A whose answers are missing in B; q is nil where B has none of its requests.
// Where nobody asked and nothing of it runs in B, it is only in A.
func (c *Comparison) silent(p, q *ledger.Party) bool {
	s := Silent{Name: Name(p), RateA: p.Rate, address: addressOf(p), usual: p.Mean}
	expected := p.Rate * c.B.Length().Seconds() * c.B.ShareOf("sockets.turns")
	if p.Answered < fewAnswers || expected < fewAnswers || longPoll(p) {
		return false
	}
	if q != nil {
		if float64(q.Answered) >= nearlyNone*expected {
			return false
		}
		s.address, s.RateB, s.Open, s.Oldest = addressOf(q), q.Rate, q.Pending(), q.Oldest
	}
	for _, row := range c.B.Turns {
		if row.Role == string(p.Role) && (row.Comm == "" || row.Comm == p.Subject.Comm) && leadsTo(turnAddress(row), s.address) {
			s.Cut += row.Cut
		}
	}
	s.Failed = failedConnects(c.B, s.address)
	switch {
	case s.Asked():
		c.Stopped = once(c.Stopped, s)
	case q != nil || runs(c.B, p):
		c.Quiet = once(c.Quiet, s)
	default:
		return false
	}
	return true
}

// gone notes a service of A that B does not have, unless the same program serves at another address there.
func (c *Comparison) gone(p *ledger.Party, b *ledger.Ledger) {
	moved := slices.ContainsFunc(b.Parties, func(q *ledger.Party) bool {
		return q.Role == ledger.Serves && q.Subject.Comm == p.Subject.Comm && q.Answered >= fewAnswers
	})
	if p.Role == ledger.Serves && !moved {
		s := Silent{Name: Name(p), RateA: p.Rate, Elsewhere: runsProgram(c.B, p.Subject.Comm), address: addressOf(p)}
		c.Gone = once(c.Gone, s)
	}
}

// once leaves out who calls a service that is there already.
func once(all []Silent, s Silent) []Silent {
	if slices.ContainsFunc(all, func(o Silent) bool { return leadsTo(s.address, o.address) || leadsTo(o.address, s.address) }) {
		return all
	}
	return append(all, s)
}

func addressOf(p *ledger.Party) string {
	if p.Role == ledger.Calls {
		return p.Address
	}
	return p.Subject.Local
}

func turnAddress(row recording.Turns) string {
	if row.Role == string(ledger.Calls) {
		return row.Remote
	}
	return row.Local
}

// leadsTo reports whether who asks for an address reaches a listener.
func leadsTo(address, listener string) bool {
	if address == "" || recording.IsUnix(address) || recording.IsUnix(listener) {
		return address == listener
	}
	any := slices.Contains([]string{"0.0.0.0", "::", "[::]", "*"}, recording.Host(listener))
	return address == listener || any && recording.Port(address) == recording.Port(listener)
}

// failedConnects are those to an address: by their sockets' ends, or by the calls that failed, which
// count the same ones.
func failedConnects(r *recording.Recording, address string) uint64 {
	ended, calls := uint64(0), uint64(0)
	for _, row := range r.Connections {
		if row.Role == "connect" && leadsTo(row.Remote, address) {
			ended += row.Failed
		}
	}
	for _, row := range r.CallErrors {
		if !ordinary(row.Errno) && (row.Call == "connect" || row.Errno == "ECONNREFUSED") && leadsTo(row.Remote, address) {
			calls += row.N
		}
	}
	return max(ended, calls)
}

// runs reports whether the listener, or the program that calls, is there in a recording.
func runs(r *recording.Recording, p *ledger.Party) bool {
	if p.Role == ledger.Calls {
		return runsProgram(r, p.Subject.Comm)
	}
	return slices.ContainsFunc(r.Sockets, func(k recording.Socket) bool {
		return strings.HasPrefix(k.State, "LISTEN") && leadsTo(p.Subject.Local, k.Local)
	})
}

func runsProgram(r *recording.Recording, comm string) bool {
	return comm != "" && slices.ContainsFunc(r.Processes, func(o recording.Process) bool { return o.Comm == comm })
}
