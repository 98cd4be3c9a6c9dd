package net

import (
	"fmt"
	"slices"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var unixBacklog = &suspect.Suspect{
	Name:  "unix-backlog",
	Title: "backlog of a UNIX socket full",
	About: "Connections to a UNIX socket come faster than its server accepts them, and its backlog (the smaller of what it asked for and somaxconn) is full. The kernel refuses who does not wait with EAGAIN at once: a web server before it answers 502. Who does wait blocks in connect. " +
		"The kernel counts neither anywhere. Behind a full backlog are often workers that are all busy: then these are the cause.",
	Needs: []suspect.Need{
		{Measure: "sockets.unix", Must: true, Why: "how many connections wait at each listener, and how many may"},
		{Measure: "sockets.errors", Why: "EAGAIN of connect, looked at for 3 s where a backlog is short or fills"},
		{Measure: "sockets.turns", Why: "who asks there, and how long requests wait unread in the socket buffer"},
		{Measure: "host.sysctl", Why: "somaxconn"},
	},
	For: []string{
		"decisive: connect was refused with EAGAIN to a process that asks at no other UNIX socket",
		"strong: the same to a client that connects to several, where only this one was seen with connections waiting",
		"strong: more connections waited than its backlog has room for, in one of ten samples or more",
		"strong: the answers of who asks there were errors in those seconds",
	},
	Against: []string{
		"decisive: never more than half of its backlog was in use: slow to accept, no client refused",
		"can't tell: a backlog that short bursts fill between two samples, where connect was not looked at",
	},
	LeadsTo: []suspect.Lead{{To: scene.ConnectionErrors, Lag: 5 * time.Second}, {To: scene.FailedAnswers, Lag: 5 * time.Second}, {To: scene.ConnectLatency, Lag: 10 * time.Second}, {To: scene.RequestLatency, Lag: 10 * time.Second},
		{To: "error-answers", Lag: 5 * time.Second}, {To: "slow-dependency", Lag: 5 * time.Second}},
	Remedy: suspect.Remedy{
		Permanently: "More workers behind it. net.core.somaxconn in /etc/sysctl.d, and a restart of the program.",
		Program:     "Answer faster, or ask listen() for a longer queue.",
	},
	Verified: "connect returns EAGAIN no more, and Recv-Q stays below Send-Q",
	Next:     "ss -lx   # Recv-Q waiting, Send-Q how many may; strace -f -e connect -p PID of who asks there",
	Weigh:    weighUnixBacklog,
}

func weighUnixBacklog(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	var seen []uint64
	for _, k := range s.Sockets {
		netns := k.First().Netns
		if !k.Listening() || k.First().Proto != "unix" || slices.Contains(seen, netns) {
			continue
		}
		seen = append(seen, netns)
		all, _ := listenersOf(s, "unix", netns)
		for _, l := range all {
			if f, ok := fullBacklog(s, r, l); ok {
				out = append(out, f)
			}
		}
	}
	return out
}

func fullBacklog(s *scene.Scene, r *recording.Recording, l listener) (suspect.Finding, bool) {
	sub := l.socket.Subject
	refused, alone := refusedAt(s, r, l)
	f := suspect.Finding{Subject: sub}
	if l.full == 0 && refused == 0 {
		if l.waiting < fewOverflows {
			return f, false
		}
		e := suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: float64(l.waiting), Unit: "connections", Source: source.SS("-lx", source.RecvQ, source.SendQ), Origin: "backlog",
			Text: fmt.Sprintf("up to %s connections waited of %s that may: no client was seen refused", units.Count(float64(l.waiting)), units.Count(float64(l.backlog)))}
		if 2*l.waiting <= l.backlog {
			e.Grade = suspect.Decisive
		}
		f.Evidence = []suspect.Evidence{e}
		return f, true
	}
	f.Text = fmt.Sprintf("its backlog of %s is full", units.Count(float64(l.backlog)))
	f.Next = fmt.Sprintf("ss -lx 'src %s'   # Recv-Q waiting, Send-Q how many may", recording.Port(sub.Local))
	f.Settings, f.Calls = backlogSettings(r, l)
	f.Remedy = longerBacklog(s, r, l, f.Settings)
	if l.full > 0 {
		seconds := s.Window.Length(s.Window.End).Seconds()
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: float64(l.waiting), Unit: "connections", Source: source.SS("-lx", source.RecvQ, source.SendQ), Origin: "backlog",
			Text: fmt.Sprintf("up to %s connections waited in a backlog of %s (full in %s of %s)", units.Count(float64(l.waiting)), units.Count(float64(l.backlog)), units.Plural(l.full, "sample"), units.Lasting(seconds))}
		if l.full >= fewFull && float64(l.full) >= oftenFull*seconds {
			e.Grade = suspect.Strong
		}
		f.Evidence = append(f.Evidence, e)
	}
	if refused > 0 {
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: refused, Unit: "connections", Source: source.Of("connect of who asks there: EAGAIN", source.CallErrors), Origin: "connect",
			Text: fmt.Sprintf("connect was refused with EAGAIN %s times to who asks there, while it was looked at", units.Count(refused))}
		if alone {
			e.Grade = suspect.Decisive
			e.Text += ", and at no other UNIX socket"
		}
		f.Evidence = append(f.Evidence, e)
		f.Text += fmt.Sprintf(": %s connections were refused in a few seconds", units.Count(refused))
		f.Harm = suspect.Harm{Symptom: scene.ConnectionErrors, Amount: refused, Unit: "connections", Text: fmt.Sprintf("%s connections to %s were refused", units.Count(refused), sub.Local)}
	}
	failed, of, as, who := failedBehind(s, r, l)
	f.Related = who
	if failed >= fewOverflows {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: failed, Unit: "answers", Source: source.FirstBytes.As("the first bytes of the answers of who asks there"), Origin: "answers",
			Text: fmt.Sprintf("%s answers of who asks there were errors (%s)", units.OfAll(failed, of), as)})
		if refused > 0 {
			return f, true
		}
		f.Harm = suspect.Harm{Symptom: scene.FailedAnswers, Amount: failed, Of: of, Unit: "answers", Text: fmt.Sprintf("%s answers failed for want of a place in the backlog of %s", units.OfAll(failed, of), sub.Local)}
	}
	return f, true
}

// A backlog is full for good where samples, one per second, find it so this often; a burst of
// clients fills one for a moment.
const (
	fewFull   = 2
	oftenFull = 0.1 // of the window's seconds
)

// refusedAt is how many connects were told EAGAIN, of those who ask at the listener; alone:
// none of them asks at another, or no other was seen with somebody waiting.
func refusedAt(s *scene.Scene, r *recording.Recording, l listener) (n float64, alone bool) {
	others := map[int]bool{}
	asks := map[int]bool{}
	for _, t := range r.Turns {
		if t.Role != "call" || !recording.IsUnix(t.Remote) {
			continue
		}
		if at := s.Callee(t); at == l.socket {
			asks[t.PID] = true
		} else {
			others[t.PID] = true
		}
	}
	alone = true
	for _, e := range r.CallErrors {
		if e.Call != "connect" || e.Errno != "EAGAIN" || !asks[e.PID] {
			continue
		}
		if others[e.PID] {
			if l.waiting == 0 {
				continue // it may be any of them
			}
			alone = false
		}
		n += float64(e.N)
	}
	return n, alone
}

// failedBehind are the failed answers of the processes that ask at the listener.
func failedBehind(s *scene.Scene, r *recording.Recording, l listener) (failed, of float64, as string, who []recording.Subject) {
	asks := map[int]bool{}
	for _, t := range r.Turns {
		if t.Role == "call" && recording.IsUnix(t.Remote) && !asks[t.PID] && s.Callee(t) == l.socket {
			asks[t.PID] = true
			if p := s.Process(t.PID); p != nil && len(who) < measure.MostRelated {
				who = append(who, p.Subject)
			}
		}
	}
	for _, t := range r.Turns {
		if t.Role != "serve" || !asks[t.PID] {
			continue
		}
		of += float64(t.N)
		if failed += float64(t.Failed); t.Failed > 0 {
			as = t.FailedAs
		}
	}
	return failed, of, as, who
}
