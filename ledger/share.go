package ledger

import "slices"

// wellSeen is the part of a service's time that must be booked before shares of it tell what the
// cause was not, and manyAnswers how many answers it must have given. Data that
// waited unread in the socket buffer may belong to any account inside the service.
const (
	wellSeen    = 0.5
	manyAnswers = 20
)

// Share is the part of the time of a process' own requests that an account has, felt or not;
// the greatest, where it serves at several addresses. False where too little of that time was
// seen.
func (l *Ledger) Share(pid int, a Account) (share float64, ok bool) {
	for _, p := range l.served(pid) {
		share, ok = max(share, p.Share(a)), true
	}
	return share, ok
}

// InLine is the part of the time of a process' own requests in which all its threads were taken
// by others and found in some accounts, waiting for a pool's connections left out; 0 where too
// little of that time was seen.
func (l *Ledger) InLine(pid int, accounts ...Account) (share float64) {
	for _, p := range l.served(pid) {
		line := 0.0
		for _, e := range p.Entries {
			if e.pool == 0 && slices.Contains(accounts, e.Account) {
				line += e.InLine
			}
		}
		share = max(share, line/p.Demand)
	}
	return share
}

// served are the services of a process whose time was seen.
func (l *Ledger) served(pid int) (out []*Party) {
	if l == nil {
		return nil
	}
	for _, p := range l.Parties {
		if p.Role == Serves && slices.Contains(p.PIDs, pid) && p.Demand > 0 && p.Answered >= manyAnswers && p.Share(Unseen)+p.Share(Unread) < 1-wellSeen {
			out = append(out, p)
		}
	}
	return out
}
