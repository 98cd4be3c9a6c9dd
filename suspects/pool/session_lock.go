package pool

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var sessionLock = &suspect.Suspect{
	Name:  "session-lock",
	Title: "a session holds a lock that others wait for",
	About: "A transaction, a migration or a backup holds a row, a table or a file, and its program does something else meanwhile. Requests that want the same wait inside the service, for which no thread of it works; " +
		"all others are answered as ever. When the session ends its transaction, all who waited are answered at once, or they give up before with an error.",
	Needs: []suspect.Need{
		{Measure: "sockets.turns", Must: true, Why: "which answers wait, and that they come together"},
		{Measure: "states", Why: "that no thread of the service works for them"},
		{Measure: "host.processes", Why: "what its processes say in their titles"},
		{Measure: "sockets.diag", Must: true, Why: "which session was silent meanwhile, and spoke when they were let go"},
	},
	For: []string{
		"strong: some requests waited for 0.3 s and longer, ever more of them, while others were answered in a tenth of that. Then half of those that waited and more were answered within a second, two and more at a time",
		"strong: half of the time of its requests or more no thread of the service worked, called or slept for them, or they waited for a lock",
		"strong: three requests of a database and more are open for 3 s when the recording ends, ever more of them, and three times as many others were answered quickly meanwhile",
		"strong: three sessions and more had asked when the recording began, none was answered for 5 s, and then all were; strong: their processes slept meanwhile",
		"strong: a session's process has said in its title for 3 s that it waits for a lock; strong: another's says that it is idle in a transaction, and its connection carried nothing meanwhile",
		"weak: one session had its answer before, said nothing meanwhile, and spoke in the second in which the others were let go",
	},
	Against: []string{
		"strong: it called another service meanwhile: that one is late",
		"decisive: one thread does all its work, and sleeps: requests that no thread works for wait for an event (a blocking pop, a long poll)",
		"can't tell: a broadcast to clients that poll looks the same from outside, but for its regular time",
	},
	LeadsTo: []suspect.Lead{{To: scene.RequestLatency, Lag: measure.FeltWithin}, {To: scene.FailedAnswers, Lag: 10 * time.Second}, {To: "error-answers", Lag: 10 * time.Second}, {To: "slow-dependency", Lag: 5 * time.Second}, {To: "worker-queue", Lag: 10 * time.Second}, {To: "pool-exhausted", Lag: 10 * time.Second}},
	Claims:  []ledger.Account{ledger.Parked, ledger.Lock},
	Remedy: suspect.Remedy{
		Permanently: "lock_timeout or innodb_lock_wait_timeout, and idle_in_transaction_session_timeout, in the database's configuration. End the session that holds the lock.",
		Program:     "Commit before anything slow. Migrations with a short lock timeout.",
	},
	Verified: "no request waits longer than it did",
	Next:     "the database's own list of waits and blockers (PostgreSQL: pg_blocking_pids; MySQL: sys.innodb_lock_waits)",

	WeighBooked: weighSessionLock,
}

const (
	heldLong     = 0.3 // s that a request waits at least for a lock of a session
	othersQuick  = 0.1 // of that
	fewHeld      = 3   // requests in all
	othersTimes  = 3   // times as many are answered quickly
	heldTogether = 2   // at a time
	leastIdle    = 0.5 // of the time of the requests
	leastSeen    = 0.3 // of it; less tells little of the rest
	// leastLocked of the time of the requests threads of what is no database were seen to wait for a
	// lock: its requests may wait for an event, an answer or a timer, and be let go together too.
	leastLocked = 0.2
	// letGo of those that waited are answered when the session ends that held the lock. An event
	// answers those long polls that asked for it.
	letGo = 0.5
	// aloneShare of the work of a service is all of it; of less than leastRan seconds nothing
	// can be told.
	aloneShare, leastRan = 0.98, 0.01
)

func weighSessionLock(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) []suspect.Finding {
	if l == nil {
		return nil
	}
	services := map[scene.NodeID]*scene.Service{}
	for _, v := range scene.Services(s, r, "serve") {
		services[scene.IDOf(v.Subject)] = v
	}
	var out []suspect.Finding
	for _, p := range l.Parties {
		if n := p.Unheard(); n > 0 {
			out = append(out, unheard(s, p, n))
			continue
		}
		v := services[scene.IDOf(p.Subject)]
		if p.Role != ledger.Serves || v == nil || !ledger.LikeDatabase(p.Subject) && p.Share(ledger.Lock) < leastLocked {
			continue
		}
		if h := lockedOutOf(v); h.many() {
			out = append(out, h.finding(s, p, v))
		} else if h.given(p) {
			out = append(out, h.givenUp(s, p))
		} else if k, ok := v.Stuck(); ok {
			out = append(out, stillLockedOut(s, p, k))
		} else if k, others, ok := openToTheEnd(v); ok && ledger.LikeDatabase(p.Subject) {
			out = append(out, neverLetGo(s, p, k, others))
		} else if h, ok := heldAtFirst(s, r, v); ok && ledger.LikeDatabase(p.Subject) {
			out = append(out, h.finding(s, p.Subject))
		}
	}
	for _, f := range lockedByTitle(s, r) {
		if !slices.ContainsFunc(out, func(o suspect.Finding) bool { return scene.IDOf(o.Subject) == scene.IDOf(f.Subject) }) {
			out = append(out, f)
		}
	}
	return out
}

// waitTogether reports whether requests of a database wait as they do for a lock. Of other services
// answers that are sent by a timer look the same.
func waitTogether(s *scene.Scene, r *recording.Recording, k *scene.Socket) bool {
	if k == nil || !ledger.LikeDatabase(k.Subject) {
		return false
	}
	for _, v := range scene.Services(s, r, "serve") {
		if scene.IDOf(v.Subject) != k.ID {
			continue
		}
		_, stuck := v.Stuck()
		return stuck || lockedOutOf(v).many()
	}
	return false
}

// lockedOut are the requests of a service that waited together.
type lockedOut struct {
	n, together uint64 // in all, and most that were let go within a second
	longest     float64
	others      uint64 // that were answered quickly meanwhile
	gaveUp      uint64 // that got an error instead, each after its time (statement_timeout), while others went on waiting
	spans       []recording.Interval
}

func (h lockedOut) many() bool {
	return h.n >= fewHeld && h.together >= heldTogether && h.others >= othersTimes*h.n
}

// given reports whether requests of a database waited for so long that they were given up.
func (h lockedOut) given(p *ledger.Party) bool {
	return h.gaveUp >= fewHeld && h.others >= othersTimes*h.gaveUp && ledger.LikeDatabase(p.Subject)
}

// lockedOutOf finds the times in which requests wait, the oldest ever longer, until those that
// wait are let go.
func lockedOutOf(v *scene.Service) lockedOut {
	var h lockedOut
	var began recording.Time
	others, waiting, oldest, all := uint64(0), uint64(0), 0.0, false
	for i, row := range v.Rows {
		long, quick := split(row.Hist)
		if began != 0 && all { // nobody was answered for a second: the service stands still
			began, others, oldest, all = 0, 0, 0, false
		}
		if began != 0 && long >= 1 && row.Failed >= long && row.Open >= long { // their time is over, and nobody let them go
			h.gaveUp += long
			h.longest = max(h.longest, row.Max)
			h.others += others
			h.spans = append(h.spans, recording.Interval{Start: began, End: row.T.Add(time.Second)})
			others = 0
		} else if began != 0 && long >= 1 && row.Oldest < oldest+0.5 { // the oldest is through
			if float64(long) >= letGo*float64(waiting) {
				h.n += long
				h.together = max(h.together, long)
				h.longest = max(h.longest, row.Max)
				h.others += others + quick
				h.spans = append(h.spans, recording.Interval{Start: began, End: row.T.Add(time.Second)})
			}
			began, others, oldest = 0, 0, 0
		}
		if row.Open > 0 && (row.Oldest >= heldLong || heldInNext(v.Rows[i:])) {
			if began == 0 {
				began = row.T.Add(time.Second - measure.Duration(row.Oldest))
			}
			others, waiting, oldest = others+quick, uint64(row.Open), row.Oldest
			all = row.Oldest >= 1 && quick == 0
		}
	}
	return h
}

// heldInNext reports whether those that are open at the end of a second, for longer than the quick ones take, wait
// on, and are let go together in the next.
func heldInNext(rows []recording.Turns) bool {
	row := rows[0]
	if len(rows) < 2 || rows[1].T.Sub(row.T) > measure.Joined || row.Oldest < heldLong*othersQuick {
		return false
	}
	long, _ := split(rows[1].Hist)
	return long >= heldTogether && long <= row.Open
}

// split is how many turns took as long as held ones, and how many a tenth of that at most.
func split(hist []uint64) (long, quick uint64) {
	for i, n := range hist {
		switch bound := recording.TurnBound(i); {
		case bound >= heldLong:
			long += n
		case recording.TurnBound(i+1) <= heldLong*othersQuick:
			quick += n
		}
	}
	return long, quick
}

func (h lockedOut) finding(s *scene.Scene, p *ledger.Party, v *scene.Service) suspect.Finding {
	f := suspect.Finding{Subject: p.Subject, Active: intervals.Merge(h.spans, measure.Joined),
		Text: fmt.Sprintf("%s of its requests waited together for up to %s, and %s others were answered quickly meanwhile", units.Count(float64(h.n)), units.Lasting(h.longest), units.Count(float64(h.others)))}
	turns := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(h.n), Unit: "requests", Source: source.Turns, Origin: "turns",
		Text: fmt.Sprintf("%s requests waited for up to %s and were answered up to %d within a second; %s others took %s at most meanwhile", units.Count(float64(h.n)), units.Lasting(h.longest), h.together, units.Count(float64(h.others)), units.Lasting(heldLong*othersQuick))}
	f.Evidence = append([]suspect.Evidence{turns, idleInside(p)}, oneThread(s, p)...)
	if who := h.holder(s, v); who != nil {
		name := who.Subject.Name
		if who.Peer != nil && who.Peer.Owner() != nil {
			name = who.Peer.Owner().Subject.Name
			f.Related = append(f.Related, who.Peer.Owner().Subject)
		}
		f.Related = append(f.Related, who.Subject)
		f.Text += fmt.Sprintf("; the session of %s was silent until they were let go", name)
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Source: source.SS("-tin", source.BytesReceived, source.LastSnd, source.LastRcv), Origin: "sessions",
			Text: fmt.Sprintf("the session of %s (%s) had its answer, said nothing meanwhile, and spoke when the others were let go", name, cmp.Or(who.First().Remote, who.Subject.Name))})
		f.Remedy = suspect.Remedy{Permanently: "End the transaction of " + name + ". A lock timeout for the others, in the database's configuration.", Program: name + ": commit before anything slow."}
	}
	f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: h.longest, Unit: "s", Text: f.Text}
	f.Next = whoBlocks(recording.Port(p.Subject.Local))
	return f
}

// givenUp are requests that waited for a lock until their time was over.
func (h lockedOut) givenUp(s *scene.Scene, p *ledger.Party) suspect.Finding {
	f := suspect.Finding{Subject: p.Subject, Active: intervals.Merge(h.spans, measure.Joined), Next: whoBlocks(recording.Port(p.Subject.Local)),
		Text: fmt.Sprintf("%s of its requests waited for %s and were given up with an error, and %s others were answered quickly meanwhile", units.Count(float64(h.gaveUp)), units.Lasting(h.longest), units.Count(float64(h.others)))}
	turns := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(h.gaveUp), Unit: "requests", Source: source.Turns.And(source.FirstBytes), Origin: "turns",
		Text: fmt.Sprintf("%s requests ended with an error after up to %s (%s), while more waited; %s others took %s at most meanwhile", units.Count(float64(h.gaveUp)), units.Lasting(h.longest), p.FailedAs, units.Count(float64(h.others)), units.Lasting(heldLong*othersQuick))}
	f.Evidence = append([]suspect.Evidence{turns, idleInside(p)}, oneThread(s, p)...)
	f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: h.longest, Unit: "s", Text: f.Text}
	return f
}

// stillLockedOut are requests that wait for a lock that is never let go in the window.
func stillLockedOut(s *scene.Scene, p *ledger.Party, k scene.Stuck) suspect.Finding {
	f := suspect.Finding{Subject: p.Subject, Active: []recording.Interval{{Start: max(k.Since, s.Window.Start), End: s.Window.End}},
		Text: fmt.Sprintf("%s of its requests have waited together for up to %s, and none was let go", units.Count(float64(k.Open)), units.Lasting(k.Oldest)), Next: whoBlocks(recording.Port(p.Subject.Local))}
	f.Evidence = []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Value: float64(k.Open), Unit: "requests", Source: source.Turns, Origin: "turns",
			Text: fmt.Sprintf("%s requests are open, the oldest for %s, ever more from one second to the next; %.3g per second were answered before, %.2g since", units.Count(float64(k.Open)), units.Lasting(k.Oldest), k.Before, k.After)},
		idleInside(p),
	}
	f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: k.Oldest, Unit: "s", Text: f.Text}
	return f
}

// longOpenYet, s: databases look for a deadlock after one (deadlock_timeout of PostgreSQL), and nobody
// works for these.
const longOpenYet = 3

// openToTheEnd are requests that are open for long when the recording ends, ever more of them, while
// others were answered quickly: which of them want the same is not known until they do.
func openToTheEnd(v *scene.Service) (k scene.Stuck, others uint64, ok bool) {
	last := v.Rows[len(v.Rows)-1]
	if last.Open < fewHeld || last.Oldest < longOpenYet {
		return k, 0, false
	}
	k = scene.Stuck{Open: last.Open, Oldest: last.Oldest, Since: last.T.Add(-measure.Duration(last.Oldest))}
	most := uint64(0)
	for _, row := range v.Rows {
		if row.T < k.Since {
			continue
		}
		long, quick := split(row.Hist)
		if others += quick; long > 0 || row.Open < most {
			return k, 0, false // some were let go
		}
		most = row.Open
	}
	return k, others, others >= othersTimes*k.Open
}

// neverLetGo are such requests of a database for which no thread works.
func neverLetGo(s *scene.Scene, p *ledger.Party, k scene.Stuck, others uint64) suspect.Finding {
	f := stillLockedOut(s, p, k)
	f.Evidence[0].Text = fmt.Sprintf("%s requests are open, the oldest for %s, and never fewer than the second before; %s others took %s at most meanwhile", units.Count(float64(k.Open)), units.Lasting(k.Oldest), units.Count(float64(others)), units.Lasting(heldLong*othersQuick))
	f.Harm.Untimed = true
	return f
}

// unheard is a database that answered nobody in the whole window, and whose threads do nothing for
// those who asked: they wait for one lock, of a table or of all.
func unheard(s *scene.Scene, p *ledger.Party, n uint64) suspect.Finding {
	f := suspect.Finding{Subject: p.Subject, Active: []recording.Interval{s.Window},
		Text: fmt.Sprintf("none of its %d requests was answered in %s", n, units.Lasting(p.Oldest)), Next: whoBlocks(recording.Port(p.Subject.Local))}
	f.Evidence = []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Value: float64(n), Unit: "requests", Source: source.SS("-tin", source.BytesReceived, source.LastSnd, source.LastRcv), Origin: "sessions",
			Text: fmt.Sprintf("%d requests were sent before the recording began and are still open; no request at all was answered", n)},
		idleInside(p),
	}
	f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: p.Oldest, Unit: "s", Text: f.Text}
	return f
}

// heldFirst are the sessions of a database that had asked before the recording began, all that had:
// nobody was answered until a moment in it, and from then on everybody.
type heldFirst struct {
	n            int
	longest      float64
	after        uint64 // answers in the second after
	until        recording.Time
	slept, looks float64 // looks at their threads meanwhile
}

// longAtFirst, s: a statement that takes as long computes, or reads from a disk.
const longAtFirst = 5

// heldAtFirst finds them by their sockets, no probe of requests has seen those asked: one or more had
// its answer without asking again.
func heldAtFirst(s *scene.Scene, r *recording.Recording, v *scene.Service) (h heldFirst, ok bool) {
	i := slices.IndexFunc(v.Rows, func(row recording.Turns) bool { return row.N > 0 })
	if i < 0 {
		return h, false
	}
	h.until, h.after = v.Rows[i].T, v.Rows[i].N
	pids, answered := map[int]bool{}, false
	for _, k := range s.Sockets {
		a := k.First()
		if k.Listener == nil || k.Listener.ID != scene.IDOf(v.Subject) || a.State != "ESTABLISHED" || a.TCP == nil || a.TCP.BytesSent == 0 || a.TCP.LastRcv >= a.TCP.LastSnd || k.Owner() == nil {
			continue // it had its answer
		}
		told, idle := false, false
		for _, row := range k.Rows {
			if row.TCP != nil && row.TCP.BytesReceived == a.TCP.BytesReceived {
				told = told || row.TCP.BytesSent > a.TCP.BytesSent
				idle = row.TCP.BytesSent == a.TCP.BytesSent && row.T > h.until
			}
		}
		if idle {
			continue // what it sent last wants no answer (COM_STMT_CLOSE of MySQL)
		}
		if waited := h.until.Sub(a.T).Seconds() + a.TCP.LastRcv; waited >= longAtFirst && h.until.Sub(a.T).Seconds() >= longAtFirst/2 {
			h.n, h.longest = h.n+1, max(h.longest, waited)
			answered = answered || told
			pids[k.Owner().Subject.PID] = true
		}
	}
	for _, row := range r.ThreadStates {
		if pids[row.PID] && row.T < h.until {
			h.looks += float64(row.N)
			if row.State == "S" {
				h.slept += float64(row.N)
			}
		}
	}
	return h, h.n >= fewHeld && answered && h.looks > 0 && h.slept >= aloneShare*h.looks
}

func (h heldFirst) finding(s *scene.Scene, sub recording.Subject) suspect.Finding {
	f := suspect.Finding{Subject: sub, Active: []recording.Interval{{Start: s.Window.Start, End: h.until}}, Next: whoBlocks(recording.Port(sub.Local)),
		Text: fmt.Sprintf("%d sessions waited together for up to %s, from before the recording began, and none was answered meanwhile; then %d requests were answered within a second", h.n, units.Lasting(h.longest), h.after)}
	f.Evidence = []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Value: float64(h.n), Unit: "sessions", Source: source.SS("-tin", source.BytesReceived, source.LastSnd, source.LastRcv).And(source.Turns), Origin: "sessions",
			Text: fmt.Sprintf("%d sessions had asked when the recording began and waited for up to %s; no request at all was answered until then, and %d in the second after", h.n, units.Lasting(h.longest), h.after)},
		{Side: suspect.For, Grade: suspect.Strong, Value: h.slept / h.looks, Unit: "share", Source: source.ThreadState, Origin: "ledger",
			Text: fmt.Sprintf("in %.0f %% of the samples of them meanwhile the processes of these sessions slept: they did not work on what was asked", 100*h.slept/h.looks)},
	}
	f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: h.longest, Unit: "s", Text: f.Text, Untimed: true}
	return f
}

// oneThread speaks against a lock where one thread does all that a service does: it would stop,
// and with it all others, if it waited for one.
func oneThread(s *scene.Scene, p *ledger.Party) []suspect.Evidence {
	if len(p.PIDs) != 1 || s.Process(p.PIDs[0]) == nil {
		return nil
	}
	most, all := 0.0, 0.0
	for _, t := range s.Process(p.PIDs[0]).Threads {
		ran := t.Rows[len(t.Rows)-1].OnCPU - t.Rows[0].OnCPU
		most, all = max(most, ran), all+ran
	}
	if all < leastRan || most < aloneShare*all {
		return nil
	}
	return []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: most / all, Unit: "share", Source: source.Schedstat, Origin: "threads",
		Text: fmt.Sprintf("one thread did %.0f %% of its work, and answered others meanwhile: these requests wait for an event (a blocking pop, a long poll), not for a lock", 100*most/all)}}
}

// idleInside is how much of the time of a service's requests nobody in it worked for them: of
// what was seen, since its threads are looked at from its first late answer on.
func idleInside(p *ledger.Party) suspect.Evidence {
	share, of := p.Share(ledger.Parked)+p.Share(ledger.Lock), "the time of its requests"
	if p.Share(ledger.Unseen) == 1 {
		return suspect.Evidence{Side: suspect.Missing, Source: source.ThreadState, Origin: "ledger", Text: "its threads were not sampled"}
	}
	if seen := 1 - p.Share(ledger.Unseen); seen >= leastSeen && seen < 1 {
		share, of = share/seen, fmt.Sprintf("the %.0f %% of the time of its requests that were seen", 100*seen)
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.ThreadState, Origin: "ledger",
		Text: fmt.Sprintf("%.0f %% of %s no thread of it worked, called or slept for them, or it waited for a lock", 100*share, of)}
	if share < leastIdle {
		e.Side, e.Text = suspect.Against, fmt.Sprintf("its threads were at work on them: only %.0f %% of %s no thread was", 100*share, of)
	}
	return e
}

// holder is the session that had its answer when the others began to wait, was silent as long
// as they did, and spoke when they were let go; nil where none or several did.
func (h lockedOut) holder(s *scene.Scene, v *scene.Service) *scene.Socket {
	var out *scene.Socket
	last := h.spans[len(h.spans)-1]
	for _, k := range s.Sockets {
		if k.Listener == nil || k.Listener.ID != scene.IDOf(v.Subject) {
			continue
		}
		silent, spoke := 0, false
		var before uint64
		for _, row := range k.Rows {
			switch {
			case row.TCP == nil:
			case row.T < last.End.Add(-time.Second) && row.T > last.Start.Add(time.Second/2):
				if silent > 0 && row.TCP.BytesReceived != before || row.TCP.LastSnd > row.TCP.LastRcv {
					silent = -1000 // it speaks, or waits itself
				}
				silent++
				before = row.TCP.BytesReceived
			case row.T >= last.End.Add(-time.Second) && silent > 0 && row.TCP.BytesReceived > before:
				spoke = true
			}
		}
		if silent <= 0 || !spoke {
			continue
		}
		if out != nil {
			return nil
		}
		out = k
	}
	return out
}

// whoBlocks asks a service itself who waits for whom.
func whoBlocks(port string) string {
	switch port {
	case "5432", "6432":
		return `psql -c "select pid, pg_blocking_pids(pid), state, left(query, 60) from pg_stat_activity where wait_event_type = 'Lock'"`
	case "3306":
		return `mysql -e "select * from information_schema.innodb_trx; show processlist"`
	}
	return "its own list of sessions, with waits and blockers (pg_blocking_pids, information_schema.innodb_trx, lslocks for files)"
}
