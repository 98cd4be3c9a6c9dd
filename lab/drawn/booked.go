package drawn

import (
	"math"
	"slices"
	"strings"

	"snag/lab"
	"snag/lab/referee"
)

// Booked is how much of the time of an incident's requests the injected fault made, and how
// much of it the ledger booked to the account that the fault fills.
type Booked struct {
	Injected float64 `json:"injected"` // (faulty - healthy) / faulty, of the clients' own mean
	Found    float64 `json:"found"`
}

// Right: both are the same to within this.
const bookedWithin = 0.15

func (b Booked) right() bool { return math.Abs(b.Injected-b.Found) <= bookedWithin }

// fills are the accounts of the ledger that a fault's truth names in its own words; a name that
// is not here is the account's. Of some ("errors", "accept queue", lost datagrams) the ledger
// has none.
var fills = map[string][]string{
	"in line": {"unread"},
	"spin":    {"work"},
	"steal":   {"cpu"},
	"memory":  {"memory", "disk"},  // what was thrown out is read again
	"sleep":   {"sleep", "parked"}, // while a goroutine sleeps no thread does
}

// onTheWay are the accounts that only who calls can see.
var onTheWay = []string{"path", "queue", "loss", "nagle", "window"}

// inLedger are the others that the ledger has.
var inLedger = []string{"in line", "spin", "steal", "unread", "work", "cpu", "quota", "pause", "memory", "lock", "disk", "pipe", "write", "stopped", "sleep", "child", "call", "parked"}

// leastInjected of the time must be the fault's, so that it stands out of what two runs of a
// draw differ by; fewRequests are not enough for a mean.
const (
	leastInjected = 0.3
	fewRequests   = 100
)

// bookedOf compares what a fault that lasted throughout did to the clients' mean with what an
// answer says of their requests; nil where that can't be told.
func bookedOf(t Truth, healthy, faulty referee.Figures, a lab.Answer) *Booked {
	before, after := typical(healthy), typical(faulty)
	if t.Lasting != Throughout || before <= 0 || after <= 0 || min(healthy.Requests, faulty.Requests) < fewRequests {
		return nil
	}
	way := slices.Contains(onTheWay, t.Account)
	if !way && !slices.Contains(inLedger, t.Account) {
		return nil
	}
	b := &Booked{Injected: 1 - before/after}
	if b.Injected < leastInjected {
		return nil
	}
	b.Found = min(1, foundIn(t.Account, way, a.Requests))
	return b
}

// foundIn is the share of the clients' time that is booked to an account: the clients' mean is
// compared, so all of their time counts, the way to the service too. What only who calls can see
// is looked for among all who call; all else at the service that the clients ask. It is none that
// another service asks, and not the draw's neighbour, whose clients' figures nobody takes.
func foundIn(account string, way bool, all []lab.AnswerRequests) float64 {
	var asked []string // addresses that services ask
	for _, p := range all {
		for _, b := range p.Accounts {
			if p.Role == "serve" && b.Account == "call" && b.Where != "" {
				asked = append(asked, b.Where)
			}
		}
	}
	role := "serve"
	if way {
		role = "call"
	}
	most := mostHeld(all, func(p lab.AnswerRequests) bool {
		behind := slices.ContainsFunc(asked, func(where string) bool { return strings.HasSuffix(where, portOf(p.Ref.Local)) })
		return p.Role == role && portOf(p.Ref.Local) != neighbourAt && (way || !behind)
	})
	if most == nil {
		return 0
	}
	share := bookedTo(account, *most, all, 4)
	caller := mostHeld(all, func(p lab.AnswerRequests) bool { return p.Role == "call" && p.Ref.Local == most.Ref.Local })
	if way || caller == nil || caller.Seconds == 0 {
		return share
	}
	return share * min(1, most.Seconds/caller.Seconds)
}

// mostHeld is the party of some that waits most for nothing, or where nothing is held up has most
// open requests.
func mostHeld(all []lab.AnswerRequests, of func(lab.AnswerRequests) bool) (most *lab.AnswerRequests) {
	for i, p := range all {
		if of(p) && (most == nil || p.Held > most.Held) {
			most = &all[i] // the answer has those with most open requests first
		}
	}
	return most
}

// typical is the mean of the requests' lengths, or of runs that were kept before it was (2026-11-24)
// half of them. While a request waits for one of the client's own connections it is sent to nobody,
// and no ledger can book it: that time does not count, from 2026-11-28 on, when clients began to note it.
func typical(f referee.Figures) float64 {
	if f.Mean > 0 {
		return f.Mean - f.Late
	}
	return f.P50
}

// bookedTo is the share of a party's time that is booked to an account, there or at the services
// that it calls.
func bookedTo(account string, p lab.AnswerRequests, all []lab.AnswerRequests, deep int) (share float64) {
	if p.Seconds <= 0 || deep == 0 {
		return 0
	}
	accounts := fills[account]
	if accounts == nil {
		accounts = []string{account}
	}
	for _, b := range p.Accounts {
		switch {
		case slices.Contains(accounts, b.Account):
			share += b.Seconds / p.Seconds
		case account == "in line":
			share += b.InLine / p.Seconds
		}
		if b.Account != "call" || account == "call" {
			continue
		}
		for _, other := range all {
			if other.Role == "serve" && b.Where != "" && strings.HasSuffix(b.Where, portOf(other.Ref.Local)) {
				share += b.Seconds / p.Seconds * bookedTo(account, other, all, deep-1)
				break
			}
		}
	}
	return share
}

// portOf is the part of a listener's address by which its callers' addresses end: ":8080", or
// all of it where it is a path.
func portOf(local string) string {
	if i := strings.LastIndexByte(local, ':'); i >= 0 && !strings.HasPrefix(local, "unix:") {
		return local[i:]
	}
	return local
}
