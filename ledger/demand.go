package ledger

import (
	"math"
	"slices"
	"sort"
	"time"

	"snag/recording"
	"snag/scene"
)

// second of a party: how many requests were open on average, and how long some of them
// waited unread.
type second struct {
	open, unread float64
}

// demand is a party with its seconds, by their number in the window.
type demand struct {
	party   *Party
	seconds map[int]second
	ended   map[int][]lasted // how long requests took that ended in a second
	looked  bool             // somebody looked at its threads in one of them
	helpers []*Helpers
	room    *room
}

// room is how many seconds all parties together may be booked in beside those of their own
// rows. A busy host's window of an hour takes a tenth of it; rows that tell of requests of
// years would take all memory, and get one second for all of their time.
type room struct{ seconds int }

func newRoom() *room { return &room{seconds: 5_000_000} }

func (r *room) takes(seconds int) bool {
	if seconds > r.seconds {
		return false
	}
	r.seconds -= seconds
	return true
}

// Build books all demand of a recording.
func Build(s *scene.Scene, r *recording.Recording) *Ledger {
	r, unseen := withLoads(s, withNames(r))
	standing, r := sinceBefore(s, r)
	l := &Ledger{Window: s.Window, called: map[string]*Party{}}
	looks := looksOf(s, r)
	left := newRoom()
	called := openCalls(s, r, standing, left)
	still := stillness{pauses(s, r), stops(s, r), throttled(s, r)}
	var serve []demand
	for _, v := range scene.Services(s, r, string(Serves)) {
		if l.withhold(v) {
			continue
		}
		if d := demandOf(s, r, v, standing, left); d.party.Demand > 0 {
			serve = append(serve, d)
		}
	}
	l.Alone, l.Taken = called.ceilings(s, r, serve)
	served := map[scene.NodeID]*Party{}
	for _, d := range serve {
		d.party.Strangers = strangersOf(s, r, d.party.Subject, looks)
		d.helpers = helpersOf(s, r, d.party, looks)
		d.book(looks, still, called)
		for _, h := range d.helpers {
			if h.Seconds > 0 {
				l.Helpers = append(l.Helpers, h)
			}
		}
		l.Parties = append(l.Parties, d.party)
		served[scene.IDOf(d.party.Subject)] = d.party
	}
	for _, v := range scene.Services(s, r, string(Calls)) {
		d := demandOf(s, r, v, standing, left)
		if there := served[scene.IDOf(v.Subject)]; there != nil {
			l.called[v.Rows[0].Remote], l.called[address(v.Subject)] = there, there
		}
		if l.withhold(v) || d.party.Demand == 0 {
			continue
		}
		server := -1.0
		if there := served[scene.IDOf(v.Subject)]; there != nil && there.Answered > 0 {
			server = there.Mean * float64(d.party.Answered)
		}
		d.party.bookCall(wayOf(s, r, v), address(v.Subject), server)
		l.Parties = append(l.Parties, d.party)
	}
	for _, p := range l.Parties {
		l.withinItself(p)
		p.order()
	}
	sort.SliceStable(l.Parties, func(i, j int) bool { return l.Parties[i].Open > l.Parties[j].Open })
	l.usual(r)
	l.objective(r)
	l.Felt = l.felt(s, r)
	l.Loads = l.loads(s, r, unseen)
	l.feltByLoads(s, r)
	l.Pools = l.pools()
	return l
}

// withinItself books what a service asks of itself, as etcd does for its gateway, to what its
// requests are found in otherwise: that call is one of them.
func (l *Ledger) withinItself(p *Party) {
	own := func(e Entry) bool { return p.Role == Serves && e.Account == Call && l.called[e.Where] == p }
	inside := 0.0
	for _, e := range p.Entries {
		if own(e) {
			inside += e.Seconds
		}
	}
	if inside == 0 || inside >= p.Demand {
		return
	}
	p.Entries = slices.DeleteFunc(p.Entries, own)
	more := p.Demand / (p.Demand - inside)
	for i := range p.Entries {
		p.Entries[i].Seconds *= more
		p.Entries[i].InLine *= more
	}
}

func demandOf(s *scene.Scene, r *recording.Recording, v *scene.Service, standing map[askedAt]since, left *room) demand {
	role := Role(v.Rows[0].Role)
	p := &Party{Role: role, Subject: v.Subject, PIDs: slices.Clone(v.PIDs), netns: s.NetnsName(v.Subject.Netns), answers: map[int]uint64{}, failures: map[int]uint64{}, open: map[int]float64{}}
	if role == Calls {
		p.Address, p.from = v.Rows[0].Remote, v.Rows[0].Netns
	} else {
		p.local = scene.Address(v.Rows[0].Local)
	}
	d := demand{party: p, seconds: map[int]second{}, ended: map[int][]lasted{}, room: left}
	sum := 0.0
	for i, row := range v.Rows {
		p.Answered += row.N
		p.Max = max(p.Max, row.Max)
		p.Oldest = max(p.Oldest, row.Oldest)
		if p.Failed += row.Failed; row.Failed > 0 {
			p.FailedAs = row.FailedAs
		}
		sum += row.Sum
		at := number(s.Window, row.T)
		p.answers[at] += row.N
		p.failures[at] += row.Failed
		d.spread(at, row.Sum, row.Max, row.N)
		d.ended[at] = append(d.ended[at], lastedOf(row)...)
		now := d.seconds[at]
		now.unread += row.Wait
		d.seconds[at] = now
		if i == len(v.Rows)-1 && row.Open > 0 { // what never ended in the window was open all the same
			d.spread(at, row.Oldest+float64(row.Open-1)*row.Oldest/2, row.Oldest, row.Open)
			p.waiting = row.Open
		}
	}
	before := standing[placeAsked(v.Rows[0])]
	if n := before.whole; n > 0 {
		p.Oldest = s.Window.End.Sub(s.Window.Start).Seconds()
		p.waiting += uint64(n)
		d.openFor(math.Floor(p.Oldest), n)
	}
	for _, seconds := range before.ended {
		p.Oldest = max(p.Oldest, seconds)
		d.openFor(seconds, 1)
	}
	length := s.Window.End.Sub(s.Window.Start).Seconds() * r.ShareOf("sockets.turns")
	for at, now := range d.seconds {
		p.Demand += now.open
		p.open[at] = now.open
	}
	if p.Answered > 0 {
		if role == Serves {
			tail := tails(r, v, p.Answered)
			p.add(Entry{Account: Nagle, Where: "the caller's acknowledgement", Seconds: tail})
			p.Demand += tail
			sum += tail
		}
		p.Mean = sum / float64(p.Answered)
		n := uint64(0)
		p.hist, n = scene.Histogram(v.Rows)
		p.P50, p.P99 = scene.Quantile(p.hist, n, 0.5), scene.Quantile(p.hist, n, 0.99)
	}
	if length > 0 {
		p.Rate, p.Open = float64(p.Answered)/length, p.Demand/length
	}
	return d
}

// openFor books requests that were open from the start of the window on, for so many seconds.
func (d demand) openFor(seconds, n float64) {
	if !d.room.takes(int(seconds)) {
		seconds, n = 1, n*seconds
	}
	for at := 0; float64(at) < seconds; at++ {
		now := d.seconds[at]
		now.open += n * min(1, seconds-float64(at))
		d.seconds[at] = now
	}
}

// spread books request-seconds that ended in a second to the seconds in which they were
// spent: as many before it as their mean is long.
func (d demand) spread(at int, sum, longest float64, n uint64) {
	if n == 0 || sum <= 0 {
		return
	}
	back := 0
	if mean := sum / float64(n); mean > 1 {
		back = int(min(mean, longest, 1e9))
	}
	if !d.room.takes(back) {
		back = 0
	}
	for i := 0; i <= back; i++ {
		s := d.seconds[max(0, at-i)]
		s.open += sum / float64(back+1)
		d.seconds[max(0, at-i)] = s
	}
}

// address is how a destination is called where time continues.
func address(sub recording.Subject) string {
	if sub.Remote != "" {
		return sub.Remote
	}
	return sub.Local
}

// number is a time's second of the window.
func number(window recording.Interval, t recording.Time) int {
	return max(0, int(t.Sub(window.Start)/time.Second))
}

// callsOf are the calls of each process, by second and address.
type callsOf map[int]map[int]map[string]asked

// openCalls are how many requests each process had open at others, with those that wait
// until a connection is there.
func openCalls(s *scene.Scene, r *recording.Recording, standing map[askedAt]since, left *room) callsOf {
	out := callsOf{}
	type place struct {
		remote string
		netns  uint64
	}
	connects := map[place][]recording.Connections{}
	for _, row := range r.Connections {
		if row.Role == "connect" && row.Handshake > 0 {
			at := place{row.Remote, row.Netns}
			connects[at] = append(connects[at], row)
		}
	}
	for _, v := range scene.Services(s, r, string(Calls)) {
		d := demandOf(s, r, v, standing, left)
		to := address(v.Subject)
		for _, pid := range v.PIDs {
			room := float64(roomAt(s, pid, []string{v.Rows[0].Remote, to}))
			for at, sec := range d.seconds {
				// Of several processes that call one place each has its part.
				out.add(pid, at, to, sec.open/float64(len(v.PIDs)), room)
			}
		}
		for _, row := range connects[place{v.Rows[0].Remote, v.Rows[0].Netns}] {
			out.add(row.PID, number(s.Window, row.T), to, row.Handshake, 0)
		}
	}
	return out
}

func (c callsOf) add(pid, at int, to string, open, room float64) {
	if c[pid] == nil {
		c[pid] = map[int]map[string]asked{}
	}
	if c[pid][at] == nil {
		c[pid][at] = map[string]asked{}
	}
	a := c[pid][at][to]
	c[pid][at][to] = asked{open: a.open + open, room: max(a.room, room), locked: a.locked, taken: a.taken}
}

func (p *Party) add(e Entry) {
	if e.Seconds <= 0 {
		return
	}
	if held := e.delay(); held > 0 && p.delayed != nil {
		p.delayed[p.at] += held
	}
	for i := range p.Entries {
		if o := &p.Entries[i]; o.Account == e.Account && o.Where == e.Where && (o.pool > 0) == (e.pool > 0) {
			o.pool = max(o.pool, e.pool)
			o.Seconds += e.Seconds
			o.InLine += e.InLine
			o.Looks += e.Looks
			return
		}
	}
	p.Entries = append(p.Entries, e)
}

func (p *Party) order() {
	sort.SliceStable(p.Entries, func(i, j int) bool { return p.Entries[i].Seconds > p.Entries[j].Seconds })
}
