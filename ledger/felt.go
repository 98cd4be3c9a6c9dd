package ledger

import (
	"slices"
	"sort"
	"time"

	"snag/recording"
	"snag/scene"
)

// A delay is felt when it is this share of a party's time, and this long for each request,
// or for one in a hundred: half of the time is twice as long an answer, and under 10 ms on
// average a healthy host of few CPUs keeps requests waiting now and then.
const (
	feltShare = 0.4
	feltEach  = 0.01 // s
	feltP99   = 0.05 // s
	// Half of both is felt as well, inside a service: on healthy hosts of two CPUs, all but used up,
	// the mean delay came to 5 ms and that of one in a hundred to 18 (230 drawn runs, 2026-11-24).
	feltBoth = 0.5
	// For a cause that is proved otherwise less is enough: a delay as long as all the rest of the time,
	// which makes answers take twice as long, and is no matter of the scheduler's slices.
	faintShare = 0.5
	FaintEach  = 0.002 // s
	// Or so long for one in a hundred, where the process stood still by exact times.
	faintP99 = 0.02 // s
	// Of what takes longer than usual: there nothing else has to be told from it.
	feltMore = 0.001 // s
	// So many times as long as usual is one in a hundred late, of enough that there is one. A
	// busy machine makes it vary by two.
	tailTimes = 3
	fewTail   = 200
	// Of the answers that may not take longer than an objective one in a hundred may, as
	// objectives are given: 99 % within 50 ms.
	lateMost = 0.01
	// Answers that take so long on average are late for the sake of whom they wait for, though
	// such calls are what a service consists of. On 204 draws of even seeds every value from 0.15
	// to 0.5 names as many incidents rightly; below 0.3 more healthy services are accused, whose
	// calls take that long by design (2026-11-23).
	Intolerable = 0.35 // s
	// Calls that were lost and sent again by a timer: of all time, in number, of all calls.
	lossStalls = 0.2
	fewStalls  = 3
	stallShare = 0.005
	// Of a party that was not answered at all: requests held up on average.
	feltHeld = 0.3
	// Fewer requests tell nothing of a party, if they end.
	fewRequests = 5
)

// Delay is what held up the requests of a party without need.
type Delay struct {
	Party   *Party
	Seconds float64 // request-seconds
	Held    float64 // requests that were held up at a moment, on average
	Each    float64 // s of each answer; 0 where none came
	Share   float64 // of all the party's time
	// By are the shares of the accounts in it, the greatest first. What waits in line for
	// threads that sleep, call or have a child work is booked to these.
	By []Part
	// Behind are the shares of the accounts of the services on this host that it calls, and
	// of those that these call: the part of Call that continues there.
	Behind []Part
	// Active are the seconds in which most of it fell; nil: throughout.
	Active []recording.Interval
	// Load is whose clients it holds up, where only they show it; nil elsewhere. Late is the share of its
	// requests that missed the objective; 0: there is none.
	Load *Load
	Late float64
}

// Part is the share of an account in a delay.
type Part struct {
	Account Account
	Share   float64
}

// Of is the share of some accounts in the delay, wherever they are. What waited unread waited
// for the process, nobody knows on what: it may be any account's that is inside. So may a delay
// of which most was not seen.
func (d Delay) Of(accounts []Account) (share float64) {
	for _, p := range slices.Concat(d.By, d.Behind) {
		if slices.Contains(accounts, p.Account) || mayBe(p, accounts) {
			share += p.Share
		}
	}
	return min(1, share)
}

// mayBe reports whether a part of a delay of which nobody knows what it waited for may belong to
// some accounts.
func mayBe(p Part, accounts []Account) bool {
	return slices.ContainsFunc(accounts, Account.Inside) && (p.Account == Unread || p.Account == Unseen && p.Share > 0.5)
}

// Claimed are the parts of a delay that belong to some accounts, and those that may, as the party's
// own accounts have them: what goes on in a service that it calls is part of the call.
func (d Delay) Claimed(accounts []Account) (sure, maybe []Part) {
	for _, p := range d.By {
		switch {
		case slices.Contains(accounts, p.Account):
			sure = append(sure, p)
		case mayBe(p, accounts):
			maybe = append(maybe, p)
		}
	}
	at := slices.IndexFunc(d.By, func(p Part) bool { return p.Account == Call })
	if at < 0 || slices.Contains(accounts, Call) {
		return sure, maybe
	}
	behind, open := 0.0, 0.0
	for _, p := range d.Behind {
		switch {
		case slices.Contains(accounts, p.Account):
			behind += p.Share
		case mayBe(p, accounts):
			open += p.Share
		}
	}
	call := d.By[at].Share
	if behind = min(behind, call); behind > 0 {
		sure = append(sure, Part{Call, behind})
	}
	if open = min(open, call-behind); open > 0 {
		maybe = append(maybe, Part{Call, open})
	}
	return sure, maybe
}

// Inside reports whether time in an account passes in the service, not on the way to it.
func (a Account) Inside() bool {
	switch a {
	case Path, Queue, Loss, Nagle, Window:
		return false
	}
	return true
}

// delay is the part of an entry that is avoidable by nature.
func (e Entry) delay() float64 {
	switch {
	case e.Account.Delay():
		return e.Seconds
	case e.Account == Sleep, e.Account == Call, e.Account == Child:
		return e.InLine // more workers would take them
	}
	return 0
}

// delayOf is what held up a party's requests, felt or not.
func (l *Ledger) delayOf(s *scene.Scene, r *recording.Recording, p *Party) Delay {
	d := Delay{Party: p}
	by := map[Account]float64{}
	for _, e := range p.Entries {
		held := e.delay()
		switch {
		case p.Usual != nil: // below
		case e.Account == Work && (p.Uneven() || p.slows(s) || p.Role == Serves && p.takes() >= Intolerable):
			held = e.InLine
		case e.Account == Parked && p.Unheard() > 0:
			held = e.Seconds
		case p.Role == Serves && p.takes() >= Intolerable && (e.Account == Call || e.Account == Child):
			held = e.Seconds
		case p.Role == Serves && e.Account == Call:
			held = max(held, min(e.Seconds, gaveUp(r, p, e.Where)))
		}
		if e.Account == CPU { // what the party uses up itself is its own work
			held *= othersCPU(s, r, p)
		}
		by[e.Account] += held
	}
	if p.Usual != nil {
		by = p.Usual.more(p, by)
	}
	for _, held := range by {
		d.Seconds += held
	}
	if d.Seconds == 0 {
		return d
	}
	d.By = parts(by, d.Seconds)
	behind := map[Account]float64{}
	for _, e := range p.Entries {
		if e.Account == Call {
			l.behind(e, by[Call]*e.Seconds/p.Of(Call), behind, map[*Party]bool{p: true})
		}
	}
	d.Behind = parts(behind, d.Seconds)
	d.Share = d.Seconds / p.Demand
	if length := l.Window.End.Sub(l.Window.Start).Seconds(); length > 0 {
		d.Held = p.Open * d.Share
	}
	if p.Answered > 0 {
		d.Each = p.each() * d.Share
	}
	d.Active = p.active(l.Window)
	return d
}

// gaveUp is how long a party waited for answers of a name server until it gave them up: they were
// lost, and a timer asked again. Nobody wants that wait, however few names it is of.
func gaveUp(r *recording.Recording, p *Party, server string) (seconds float64) {
	for _, q := range r.Queries {
		if q.Remote == server && slices.Contains(p.PIDs, q.PID) {
			seconds += q.GaveUpSum
		}
	}
	return seconds
}

// takes is how long an answer takes on average; where none came, how long one has been awaited.
func (p *Party) takes() float64 {
	if p.Answered == 0 {
		return p.Oldest
	}
	return p.Mean
}

// each is how long a request takes on average; of who serves with those that have no answer yet,
// as long as they have waited so far. What a caller has sent and nobody answers is mostly a stream.
func (p *Party) each() float64 {
	if p.Role != Serves {
		return p.Mean
	}
	return max(p.Mean, p.Demand/float64(p.Answered+p.waiting))
}

// behind follows seconds of a call to what the called service was found in.
func (l *Ledger) behind(call Entry, seconds float64, into map[Account]float64, seen map[*Party]bool) {
	there := l.called[call.Where]
	if there == nil || seen[there] || seconds <= 0 {
		return
	}
	seen[there] = true
	for _, e := range there.Entries {
		part := seconds * e.Seconds / there.Demand
		into[e.Account] += part
		if e.Account == Call {
			l.behind(e, part, into, seen)
		}
	}
	delete(seen, there)
}

// Answers of which one in a hundred takes this many times as long as half of them do, and
// this long, wait behind others that are larger. Where all are alike, a load that fills a
// thread waits for itself.
const (
	unevenTimes = 10
	unevenFloor = 0.05 // s
)

// Uneven reports whether one answer in a hundred takes far longer than half of them do.
func (p *Party) Uneven() bool { return p.P99 >= unevenFloor && p.P99 >= unevenTimes*p.P50 }

// slows reports whether all its answers take longer in some seconds than in others: a load that
// fills a thread and waits for itself does so all the time.
func (p *Party) slows(s *scene.Scene) bool {
	return slices.ContainsFunc(s.Symptoms, func(sym scene.Symptom) bool {
		return sym.Slowed && scene.IDOf(sym.Subject) == scene.IDOf(p.Subject)
	})
}

// Tail is how long one answer in a hundred takes, where that is many times as long as half of
// them do and more than the time of long polls; 0 elsewhere. Larger requests may be what it is, and
// so may waits that no look told from an idle pool's.
func (p *Party) Tail() float64 {
	if !p.Uneven() || p.Answered < fewTail || p.late() < p.Of(Parked) {
		return 0
	}
	return p.P99
}

// late is how long the answers took in all that are far from most.
func (p *Party) late() (seconds float64) {
	for i, n := range p.hist {
		if took := recording.TurnBound(i); took >= unevenTimes/2*p.P50 {
			seconds += float64(n) * (took + recording.TurnBound(i+1)) / 2
		}
	}
	return seconds
}

// LateAnswers is how long the late ones of a process' answers took in all, and how long one in a
// hundred takes, where they are uneven; else 0.
func (l *Ledger) LateAnswers(pid int) (seconds, each float64) {
	if l == nil {
		return 0, 0
	}
	for _, p := range l.Parties {
		if p.Role == Serves && slices.Contains(p.PIDs, pid) && p.Uneven() && p.Answered >= fewTail && p.late() > seconds {
			seconds, each = p.late(), p.P99
		}
	}
	return seconds, each
}

// Longer is how much longer than half of a process' answers those took that took twice as long and
// more, s in all, with how long one in a hundred takes and half of them; 0 where that one is no
// matter: under 50 ms, or less than three times as long.
func (l *Ledger) Longer(pid int) (seconds, p99, p50 float64) {
	if l == nil {
		return 0, 0, 0
	}
	for _, p := range l.Parties {
		if p.Role != Serves || !slices.Contains(p.PIDs, pid) || p.Answered < fewTail || p.P99 < max(unevenFloor, tailTimes*p.P50) {
			continue
		}
		sum := 0.0
		for i, n := range p.hist {
			if took := (recording.TurnBound(i) + recording.TurnBound(i+1)) / 2; took >= 2*p.P50 {
				sum += float64(n) * (took - p.P50)
			}
		}
		if sum > seconds {
			seconds, p99, p50 = sum, p.P99, p.P50
		}
	}
	return seconds, p99, p50
}

func parts(by map[Account]float64, of float64) (out []Part) {
	for a, seconds := range by {
		if seconds > 0 {
			out = append(out, Part{a, seconds / of})
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Share != out[j].Share {
			return out[i].Share > out[j].Share
		}
		return out[i].Account < out[j].Account
	})
	return out
}

// felt are the delays that are felt, those that hold up most first.
func (l *Ledger) felt(s *scene.Scene, r *recording.Recording) (out []Delay) {
	for _, p := range l.Parties {
		if d := l.delayOf(s, r, p); d.felt() {
			out = append(out, d)
		} else if d.faint() {
			l.Faint = append(l.Faint, d)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Held > out[j].Held })
	return out
}

func (d Delay) felt() bool {
	p, each := d.Party, feltEach
	if d.Seconds <= 0 { // all of its time is that of long polls
		return false
	}
	if u := p.Usual; u != nil {
		if u.Objective > 0 {
			return u.Late >= lateMost
		}
		if p.tailBeyond(u) {
			return true
		}
		each = feltMore
	}
	share := d.shareSeen()
	switch {
	case d.stalls():
		return true
	case share < feltShare:
		return false
	case p.Answered == 0:
		return d.Held >= feltHeld
	}
	mean, tail := share*p.each()/each, share*p.P99/feltP99
	here := share * d.inside()
	long := mean >= 1 || tail >= 1 ||
		p.Role == Serves && here >= feltShare && min(here*p.each()/each, here*p.P99/feltP99) >= feltBoth
	return long && (p.Answered >= fewRequests || d.Held >= feltHeld)
}

// faint reports that a delay is felt if somebody is proved to cause it.
func (d Delay) faint() bool {
	p, share := d.Party, d.shareSeen()
	if p.Role != Serves || p.Usual != nil || p.Answered < manyAnswers || share < faintShare {
		return false
	}
	stood := d.Of([]Account{Stopped, Pause}) >= faintShare && p.Answered >= fewTail && share*p.P99 >= faintP99
	return stood || share*p.each() >= FaintEach
}

// inside is the part of a delay that passed in the service, not on the way to it.
func (d Delay) inside() (share float64) {
	for _, p := range d.By {
		if p.Account.Inside() {
			share += p.Share
		}
	}
	return share
}

// shareSeen is the delay's share of the party's time if the part of it in which nobody looked at
// its threads was as the rest: what was not seen is no time without a delay. How long requests
// waited unread was seen throughout.
func (d Delay) shareSeen() float64 {
	p := d.Party
	unseen, unread := p.Of(Unseen), p.Of(Unread)
	if p.Usual != nil || p.Role != Serves || unseen > (1-wellSeen)*p.Demand {
		return d.Share
	}
	looked := p.Demand - unread - unseen
	if looked <= 0 {
		return d.Share
	}
	inside := max(0, d.Seconds-unread) / looked
	return max(d.Share, (unread+inside*(p.Demand-unread))/p.Demand)
}

// stalls reports that calls took so long that a timer must have sent again what was lost, and often
// enough: one in a hundred callers notices that, however quick the others are. An answer that
// is lost in part takes longer than is seen.
func (d Delay) stalls() bool {
	p, long := d.Party, uint64(0)
	for i, n := range p.hist {
		if recording.TurnBound(i) >= leastTimer {
			long += n
		}
	}
	return p.Role == Calls && d.Share*d.Of([]Account{Loss}) >= lossStalls && long >= fewStalls && float64(long) >= stallShare*float64(p.Answered)
}

// Booked is the greatest share that accounts have in a delay of requests which a process
// answers, where it is felt.
func (l *Ledger) Booked(pid int, accounts ...Account) (share float64) {
	if l == nil {
		return 0
	}
	for _, d := range l.Felt {
		if d.Party.Role == Serves && slices.Contains(d.Party.PIDs, pid) {
			share = max(share, d.Of(accounts))
		}
	}
	return share
}

// Waits is the share of the time of a process' own requests that passed waiting for the
// answers of an address, in line behind such calls too; 0 of who is asked nothing.
func (l *Ledger) Waits(pid int, remote string) (share float64) {
	if l == nil {
		return 0
	}
	for _, p := range l.Parties {
		if p.Role != Serves || !slices.Contains(p.PIDs, pid) || p.Demand == 0 {
			continue
		}
		for _, e := range p.Entries {
			if e.Account == Call && e.pool == 0 && l.at(e, remote) {
				share = max(share, e.Seconds/p.Demand)
			}
		}
	}
	return share
}

// OnWay is the greatest share that accounts have in a delay of those who call an address,
// where it is felt.
func (l *Ledger) OnWay(address string, accounts ...Account) (share float64) {
	if l == nil {
		return 0
	}
	for _, d := range l.Felt {
		if d.Party.Role == Calls && d.Party.Address == address {
			share = max(share, d.Of(accounts))
		}
	}
	return share
}

// A delay that lasts began inside the window where in its first seconds, two or more with requests, there was no
// more of it than this part.
const (
	hardlyAny  = 0.01
	beginsLate = 2 // s
)

// activeSince is the time from the second on in which a party's delay began; nil where that may have been before
// the window.
func (p *Party) activeSince(window recording.Interval, all float64) []recording.Interval {
	before, asked := 0.0, 0
	for at := 0; ; at++ {
		if before += p.delayed[at]; before > hardlyAny*all {
			if asked < beginsLate {
				return nil
			}
			return []recording.Interval{{Start: window.Start.Add(time.Duration(at) * time.Second), End: window.End}}
		}
		if p.answers[at] > 0 {
			asked++
		}
	}
}

// active are the seconds with most of a party's delay, where they are few: nine tenths of
// it in less than two thirds of the window.
func (p *Party) active(window recording.Interval) (out []recording.Interval) {
	type second struct {
		at   int
		held float64
	}
	var all []second
	sum := 0.0
	for at, held := range p.delayed {
		all = append(all, second{at, held})
		sum += held
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].held != all[j].held {
			return all[i].held > all[j].held
		}
		return all[i].at < all[j].at
	})
	length := int(window.End.Sub(window.Start) / time.Second)
	most, n := 0.0, 0
	for n < len(all) && most < 0.9*sum {
		most += all[n].held
		n++
	}
	if n == 0 {
		return nil
	}
	if 3*n >= 2*length {
		return p.activeSince(window, sum)
	}
	chosen := all[:n]
	sort.Slice(chosen, func(i, j int) bool { return chosen[i].at < chosen[j].at })
	for _, c := range chosen {
		from := window.Start.Add(time.Duration(c.at) * time.Second)
		if k := len(out); k > 0 && out[k-1].End == from {
			out[k-1].End = from.Add(time.Second)
			continue
		}
		out = append(out, recording.Interval{Start: from, End: from.Add(time.Second)})
	}
	return out
}

// othersCPU is the part of the CPU time of the window that neither the party's processes
// used nor those on this host which ask them: a load that fills the CPUs itself waits for
// itself. So does one of snag's own, and is nobody else's trouble.
func othersCPU(s *scene.Scene, r *recording.Recording, p *Party) float64 {
	own, all := r.LoadCPU(), r.LoadCPU()
	for _, q := range s.Processes {
		used := q.Last().CPU - q.First().CPU
		if used <= 0 || q.Subject.PID == r.Manifest.SelfPID {
			continue
		}
		all += used
		if slices.Contains(p.PIDs, q.Subject.PID) || asks(q, p) {
			own += used
		}
	}
	if all == 0 {
		return 1
	}
	return 1 - own/all
}

// asks reports whether a process has a connection to a listener of the party.
func asks(q *scene.Process, p *Party) bool {
	return slices.ContainsFunc(q.Sockets, func(k *scene.Socket) bool {
		return k.Peer != nil && k.Peer.Listener != nil && k.Peer.Listener.ID == scene.IDOf(p.Subject)
	})
}
