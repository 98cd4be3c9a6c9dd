package pool

import (
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

var poolExhausted = &suspect.Suspect{
	Name:  "pool-exhausted",
	Title: "requests wait for a connection of a pool",
	About: "A proxy, a pooler or a program with its own pool has so many connections to a database or an upstream, and no more. All of them are in use, and further requests wait inside the process until one is free: " +
		"nothing waits unread in the socket buffer, no thread works, and what is called answers quickly.",
	Needs: []suspect.Need{
		{Measure: "sockets.diag", Must: true, Why: "its connections to what it calls"},
		{Measure: "sockets.turns", Must: true, Why: "how many requests are open, and how many of its calls"},
		{Measure: "states", Must: true, Why: "whether threads of it work on the rest"},
	},
	For: []string{
		"strong: it kept the same number of connections to what it calls, or had that many in use at any moment at which requests waited, and they were in use for four fifths of the time or more",
		"strong, of a pool that keeps all its connections: they carried nothing in the whole window, and strong: requests waited for a second and longer, three and more, and were all given up with an error",
		"strong, where it does not let them wait: most seconds with errors ended with the same number of its calls open, and none with more; and strong: it called nothing for the requests that it answered with errors",
		"strong: more requests were open than those have room for, a fifth of its time or more, and no thread of it worked on them",
	},
	Against: []string{
		"strong: a call takes half as long as an answer or longer: what is called is slow, and more connections may make it slower",
	},
	LeadsTo: []suspect.Lead{{To: scene.RequestLatency, Lag: measure.FeltWithin}, {To: scene.FailedAnswers, Lag: 10 * time.Second}, {To: "error-answers", Lag: 10 * time.Second}, {To: "worker-queue", Lag: measure.FeltWithin}},
	Claims:  []ledger.Account{ledger.Call},
	Remedy: suspect.Remedy{
		Permanently: "More connections in the pool, as far as what is called can work on more at a time.",
		Program:     "Shorter calls.",
	},
	Verified: "fewer connections are in use than there are",
	Next:     "ss -tn state established   # its connections to what it calls; the pool's own figures (SHOW POOLS in PgBouncer)",

	WeighBooked: weighPoolExhausted,
}

const (
	inPoolsLine = 0.2 // of a party's time
	slowCalls   = 0.6 // of an answer's time
)

func weighPoolExhausted(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) []suspect.Finding {
	if l == nil {
		return nil
	}
	out := append(allKept(s, r), refusedForRoom(s, r)...)
	for _, p := range byParty(l.Pools) {
		if p.Connections > 0 && p.Line >= inPoolsLine*p.Party.Demand {
			out = append(out, poolFinding(s, p))
		}
	}
	return out
}

// allKept are services whose connections to what they call are all kept by sessions that say nothing
// (a transaction left open): nothing is called any more, and requests wait until they are given up.
func allKept(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	for _, v := range scene.Services(s, r, "serve") {
		var active []recording.Interval
		given, longest := 0.0, 0.0
		for _, row := range v.Rows {
			if long := answeredAfter(row, givenUpAfter); row.Failed > 0 && long == row.Failed {
				given, longest = given+float64(long), max(longest, row.Max)
				active = append(active, recording.Interval{Start: row.T.Add(-measure.Duration(row.Max)), End: row.T.Add(time.Second)})
			} else if long > 0 {
				given = 0
				break // some that waited as long were answered
			}
		}
		where, n := keptConnections(s, r, v.PIDs)
		if given < fewHeld || n == 0 {
			continue
		}
		f := suspect.Finding{Subject: v.Subject, Active: intervals.Merge(active, measure.Joined),
			Text: fmt.Sprintf("%s requests waited for a free connection to %s for up to %s and were given up; all %d that it has are kept and not used", units.Count(given), where, units.Lasting(longest), n)}
		f.Evidence = []suspect.Evidence{
			{Side: suspect.For, Grade: suspect.Strong, Value: float64(n), Unit: "connections", Source: source.SS("-ti", source.BytesSent), Origin: "sockets",
				Text: fmt.Sprintf("%s to %s carried nothing in the whole window, and owed no answer: sessions keep them and say nothing", units.Plural(n, "connection"), where)},
			{Side: suspect.For, Grade: suspect.Strong, Value: given, Unit: "requests", Source: source.Turns.And(source.FirstBytes), Origin: "turns",
				Text: fmt.Sprintf("%s requests waited for up to %s and each got an error; none that waited for %s or longer was answered otherwise, and nothing was called", units.Count(given), units.Lasting(longest), units.Lasting(givenUpAfter))},
		}
		f.Harm = suspect.Harm{Symptom: scene.FailedAnswers, Amount: given, Unit: "answers", Text: f.Text}
		f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("End the sessions that keep its connections to %s (idle_in_transaction_session_timeout, or the pool's own limit).", where), Program: "Commit before anything slow: give connections back as soon as they are not needed."}
		f.Next = "the pool's own figures (SHOW POOLS, SHOW CLIENTS in PgBouncer)"
		out = append(out, f)
	}
	return out
}

// givenUpAfter, s: a request that is refused outright does not wait.
const givenUpAfter = 1.0

// answeredAfter is how many turns took that long or longer.
func answeredAfter(row recording.Turns, seconds float64) (n uint64) {
	for i, turns := range row.Hist {
		if recording.TurnBound(i) >= seconds {
			n += turns
		}
	}
	return n
}

// keptConnections are the connections that processes made, where all go to one place and none carried
// anything, or was owed an answer, in the whole window.
func keptConnections(s *scene.Scene, r *recording.Recording, pids []int) (where string, n int) {
	for _, t := range r.Turns {
		if t.Role == "call" && slices.Contains(pids, t.PID) {
			return "", 0
		}
	}
	for _, pid := range pids {
		p := s.Process(pid)
		if p == nil {
			return "", 0
		}
		for _, k := range p.Sockets {
			a, z := k.First(), k.Last()
			if a.Proto != "tcp" || k.Listening() || k.Listener != nil {
				continue
			}
			quiet := z.State == "ESTABLISHED" && a.TCP != nil && z.TCP != nil && z.T.Sub(a.T) >= s.Window.End.Sub(s.Window.Start)/2 &&
				a.TCP.BytesSent == z.TCP.BytesSent && a.TCP.BytesReceived == z.TCP.BytesReceived && !scene.Awaits(z)
			if !quiet || where != "" && where != a.Remote {
				return "", 0
			}
			where, n = a.Remote, n+1
		}
	}
	return where, n
}

// byParty adds up the pools of each party, as a proxy has one to each of its upstreams: that
// which most waits for stands for all.
func byParty(pools []ledger.Pool) (out []ledger.Pool) {
	for _, p := range pools {
		i := slices.IndexFunc(out, func(o ledger.Pool) bool { return o.Party == p.Party })
		if i < 0 {
			out = append(out, p)
			continue
		}
		line := out[i].Line + p.Line
		if p.Line > out[i].Line {
			out[i] = p
		}
		out[i].Line = line
	}
	return out
}

// silent is how many connections of a pool carried nothing in the whole window.
func silent(s *scene.Scene, p ledger.Pool) (n int) {
	for _, pid := range p.Party.PIDs {
		if s.Process(pid) == nil {
			continue
		}
		for _, k := range s.Process(pid).Sockets {
			a, z := k.First(), k.Last()
			there := s.Callee(recording.Turns{Netns: a.Netns, Remote: a.Remote})
			if (a.Remote == p.Address || there != nil && there.First().Local == p.Address) && a.State == "ESTABLISHED" && a.TCP != nil && z.TCP != nil && z.T.Sub(a.T) >= s.Window.End.Sub(s.Window.Start)/2 &&
				z.TCP.BytesSent == a.TCP.BytesSent && z.TCP.BytesReceived == a.TCP.BytesReceived {
				n++
			}
		}
	}
	return n
}

func poolFinding(s *scene.Scene, p ledger.Pool) suspect.Finding {
	held := p.Line / p.Party.Demand * p.Party.Open
	f := suspect.Finding{Subject: p.Party.Subject,
		Text: fmt.Sprintf("%.2g requests at any moment wait for a free connection to %s; it has %d", held, p.Address, p.Connections)}
	kept := silent(s, p)
	f.Evidence = []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Value: float64(p.Connections), Unit: "connections", Source: source.Of("ss -tn state established").And(source.AllTurns), Origin: "sockets",
			Text: fmt.Sprintf("it had %s to %s in use, and never more, while requests waited", units.Plural(p.Connections, "connection"), p.Address)},
		{Side: suspect.For, Grade: suspect.Strong, Value: p.Line / p.Party.Demand, Unit: "share", Source: source.AllTurns.And(source.ThreadState), Origin: "ledger",
			Text: fmt.Sprintf("%.2g requests were open at a moment, and no thread of it worked on %.0f %% of them", p.Party.Open, 100*p.Line/p.Party.Demand)},
	}
	if p.Mean > 0 {
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: p.Mean, Unit: "s", Source: source.AllTurns, Origin: "calls",
			Text: fmt.Sprintf("a call took %s, an answer %s", units.Lasting(p.Mean), units.Lasting(p.Party.Mean))}
		if p.Mean >= slowCalls*p.Party.Mean {
			e.Side, e.Grade = suspect.Against, suspect.Strong
			e.Text += ": what is called is slow"
		}
		f.Evidence = append(f.Evidence, e)
	}
	f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: p.Party.Mean * p.Line / p.Party.Demand, Unit: "s", Text: f.Text}
	f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("%s: more than %s to %s in its configuration, as far as that can work on more at a time.", measure.OrProgram(p.Party.Subject.Comm), units.Plural(p.Connections+kept, "connection"), p.Address), Program: "Shorter calls."}
	if kept > 0 {
		f.Text += fmt.Sprintf(" in use; %d more were not used at all", kept)
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: float64(kept), Unit: "connections", Source: source.SS("-ti", source.BytesSent), Origin: "silent",
			Text: fmt.Sprintf("%d more of its connections to %s carried nothing: they are held and not used", kept, p.Address)})
		f.Remedy.Program = fmt.Sprintf("Give connections back as soon as they are not needed: %d are held and not used (a transaction left open, a job between two statements).", kept)
	}
	for _, k := range s.Sockets {
		if k.Listening() && k.First().Local == p.Address {
			f.Related = append(f.Related, k.Subject)
		}
	}
	return f
}
