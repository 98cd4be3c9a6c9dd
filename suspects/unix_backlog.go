package suspects

import (
	"fmt"
	"slices"
	"time"

	"snag/recording"
	"snag/scene"
)

var unixBacklog = &Suspect{
	Name:  "unix-backlog",
	Title: "backlog of a UNIX socket full",
	About: "Connections to a UNIX socket come faster than its server accepts them, and its backlog (the smaller of what it asked for and somaxconn) is full. The kernel refuses who does not wait with EAGAIN at once: a web server before it answers 502. Who does wait blocks in connect. " +
		"The kernel counts neither anywhere. Behind a full backlog are often workers that are all busy: then these are the cause.",
	Needs: []Need{
		{Measure: "sockets.unix", Must: true, Why: "how many connections wait at each listener, and how many may"},
		{Measure: "sockets.errors", Why: "EAGAIN of connect, looked at for 3 s where a backlog is short or fills"},
		{Measure: "sockets.turns", Why: "who asks there, and how long requests lie unread"},
		{Measure: "host.sysctl", Why: "somaxconn"},
	},
	For: []string{
		"decisive: connect was refused with EAGAIN to a process that asks at no other UNIX socket",
		"strong: the same to one that asks at several, of which only this one was seen with connections waiting",
		"strong: more connections waited than its backlog has room for, in one of ten samples or more",
		"strong: the answers of who asks there were errors in those seconds",
	},
	Against: []string{
		"decisive: never more than half of its backlog was in use: slow to accept, nobody refused",
		"can't tell: a backlog that short bursts fill between two samples, where connect was not looked at",
	},
	LeadsTo: []Lead{{scene.ConnectionErrors, 5 * time.Second}, {scene.FailedAnswers, 5 * time.Second}, {scene.ConnectLatency, 10 * time.Second}, {scene.RequestLatency, 10 * time.Second},
		{"error-answers", 5 * time.Second}, {"slow-dependency", 5 * time.Second}},
	Remedy: Remedy{
		Permanently: "More workers behind it. net.core.somaxconn in /etc/sysctl.d, and a restart of the program.",
		Program:     "Answer faster, or ask listen() for a longer queue.",
	},
	Verified: "connect returns EAGAIN no more, and Recv-Q stays below Send-Q",
	Next:     "ss -lx   # Recv-Q waiting, Send-Q how many may; strace -f -e connect -p PID of who asks there",
	Weigh:    weighUnixBacklog,
}

func weighUnixBacklog(s *scene.Scene, r *recording.Recording) []Finding {
	var out []Finding
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

func fullBacklog(s *scene.Scene, r *recording.Recording, l listener) (Finding, bool) {
	sub := l.socket.Subject
	refused, alone := refusedAt(s, r, l)
	f := Finding{Subject: sub}
	if l.full == 0 && refused == 0 {
		if l.waiting < fewOverflows {
			return f, false
		}
		e := Evidence{Side: Against, Grade: Strong, Value: float64(l.waiting), Unit: "connections", Source: "ss -lx Recv-Q, Send-Q", Origin: "backlog",
			Text: fmt.Sprintf("up to %s connections waited of %s that may: nobody was seen refused", count(float64(l.waiting)), count(float64(l.backlog)))}
		if 2*l.waiting <= l.backlog {
			e.Grade = Decisive
		}
		f.Evidence = []Evidence{e}
		return f, true
	}
	f.Text = fmt.Sprintf("its backlog of %s is full", count(float64(l.backlog)))
	f.Next = fmt.Sprintf("ss -lx 'src %s'   # Recv-Q waiting, Send-Q how many may", recording.Port(sub.Local))
	f.Settings, f.Calls = backlogSettings(r, l)
	f.Remedy = longerBacklog(s, r, l, f.Settings)
	if l.full > 0 {
		seconds := s.Window.Length(s.Window.End).Seconds()
		e := Evidence{Side: For, Grade: Weak, Value: float64(l.waiting), Unit: "connections", Source: "ss -lx Recv-Q, Send-Q", Origin: "backlog",
			Text: fmt.Sprintf("up to %s connections waited in a backlog of %s (full in %s of %s)", count(float64(l.waiting)), count(float64(l.backlog)), plural(l.full, "sample"), lasting(seconds))}
		if l.full >= fewFull && float64(l.full) >= oftenFull*seconds {
			e.Grade = Strong
		}
		f.Evidence = append(f.Evidence, e)
	}
	if refused > 0 {
		e := Evidence{Side: For, Grade: Strong, Value: refused, Unit: "connections", Source: "connect of who asks there: EAGAIN", Origin: "connect",
			Text: fmt.Sprintf("connect was refused with EAGAIN %s times to who asks there, while it was looked at", count(refused))}
		if alone {
			e.Grade = Decisive
			e.Text += ", and at no other UNIX socket"
		}
		f.Evidence = append(f.Evidence, e)
		f.Text += fmt.Sprintf(": %s connections were refused in a few seconds", count(refused))
		f.Harm = Harm{Symptom: scene.ConnectionErrors, Amount: refused, Unit: "connections", Text: fmt.Sprintf("%s connections to %s were refused", count(refused), sub.Local)}
	}
	failed, of, as, who := failedBehind(s, r, l)
	f.Related = who
	if failed >= fewOverflows {
		f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: Strong, Value: failed, Unit: "answers", Source: "the first bytes of the answers of who asks there", Origin: "answers",
			Text: fmt.Sprintf("%s answers of who asks there were errors (%s)", ofAll(failed, of), as)})
		if refused > 0 {
			return f, true
		}
		f.Harm = Harm{Symptom: scene.FailedAnswers, Amount: failed, Of: of, Unit: "answers", Text: fmt.Sprintf("%s answers failed for want of a place in the backlog of %s", ofAll(failed, of), sub.Local)}
	}
	return f, true
}

// A backlog is full for good where samples, one a second, find it so this often; a burst of
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
			if p := s.Process(t.PID); p != nil && len(who) < mostRelated {
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
