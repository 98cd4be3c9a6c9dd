package ledger

import (
	"slices"
	"time"

	"snag/recording"
	"snag/recording/intervals"
)

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

// InLineWhile is the same of the seconds in which most of a process' delay fell, where they are few
// and half of it or more is of the accounts: a queue that stood for a while. Data that waited unread
// in the socket buffer is in line too.
func (l *Ledger) InLineWhile(pid int, accounts ...Account) (share float64, while []recording.Interval) {
	for _, p := range l.served(pid) {
		line, delayed, held, open := 0.0, 0.0, 0.0, 0.0
		for _, e := range p.Entries {
			if e.pool == 0 && slices.Contains(accounts, e.Account) {
				line += e.InLine
			}
		}
		active := p.active(l.Window)
		for at, n := range p.delayed {
			delayed += n
			if intervals.Cover(active, l.Window.Start.Add(time.Duration(at)*time.Second)) {
				held, open = held+n, open+p.open[at]
			}
		}
		if line >= 0.5*delayed && open > 0 && held/open > share {
			share, while = held/open, active
		}
	}
	return share, while
}

// Own is the part of what a process' requests waited for an address that was not in line behind
// others that did: 1 where none of them is in line.
func (l *Ledger) Own(pid int, remote string) float64 {
	own := 1.0
	for _, p := range l.served(pid) {
		all, line := 0.0, 0.0
		for _, e := range p.Entries {
			if e.Account == Call && e.pool == 0 && l.at(e, remote) {
				all, line = all+e.Seconds, line+e.InLine
			}
		}
		if all > 0 {
			own = min(own, 1-line/all)
		}
	}
	return own
}

// at reports whether the time of a call passed at an address.
func (l *Ledger) at(e Entry, remote string) bool {
	return e.Where == remote || l.called[remote] != nil && l.called[remote] == l.called[e.Where]
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
