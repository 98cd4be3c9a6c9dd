package pool

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

const (
	// standsFor is how long nobody takes a connection that waits: a process that is started
	// for it needs a second at the most.
	standsFor = 3 * time.Second
	// A holder that waits for work at idleLooks of the looks does not keep it waiting.
	idleLooks  = 0.9
	fewHelpers = 2
)

// startNoMore are services that start a process for each connection and start no more: those
// that there are stay, each with its client, whoever holds the listener has nothing to do,
// and what comes waits (Dovecot's process_limit, inetd's instances).
func startNoMore(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	for _, k := range s.Sockets {
		if !k.Listening() || len(k.Owners) == 0 {
			continue
		}
		run, most := standing(k)
		if run.End.Sub(run.Start) < standsFor {
			continue
		}
		idle, looks := holdersIdle(r, k.Owners, run)
		if looks == 0 || float64(idle) < idleLooks*float64(looks) {
			continue
		}
		helpers, comm := helpersOf(s, r, k, run)
		if len(helpers) < fewHelpers {
			continue
		}
		out = append(out, noMoreHelpers(s, r, k, run, most, helpers, comm, idle, looks))
	}
	return out
}

// standing is the longest time in which connections waited at a listener and none was taken.
func standing(k *scene.Socket) (longest recording.Interval, most int) {
	for i := 0; i < len(k.Rows); {
		j := i
		for k.Rows[i].RecvQ > 0 && j+1 < len(k.Rows) && k.Rows[j+1].RecvQ >= k.Rows[j].RecvQ {
			j++
		}
		if run := (recording.Interval{Start: k.Rows[i].T, End: k.Rows[j].T}); run.End.Sub(run.Start) > longest.End.Sub(longest.Start) {
			longest, most = run, k.Rows[j].RecvQ
		}
		i = j + 1
	}
	return longest, most
}

// holdersIdle is at how many of the looks at them the threads of a listener's holders waited
// for work.
func holdersIdle(r *recording.Recording, holders []*scene.Process, run recording.Interval) (idle, looks int) {
	type thread struct {
		t   recording.Time
		tid int
	}
	seen := map[thread]bool{}
	for _, row := range r.ThreadStates {
		if row.T < run.Start || row.T >= run.End || !slices.ContainsFunc(holders, func(p *scene.Process) bool { return p.Subject.PID == row.PID }) {
			continue
		}
		if at := (thread{row.T, row.TID}); !seen[at] {
			seen[at] = true
			looks += int(row.Looks)
		}
		if row.State == "S" && measure.WaitsForWork[row.Call] {
			idle += int(row.N)
		}
	}
	return idle, looks
}

// helpersOf are the processes of one name that the holders of a listener started and that have
// clients of theirs: the most of one name of which none began and none ended meanwhile. None,
// where they hold the listener themselves.
func helpersOf(s *scene.Scene, r *recording.Recording, k *scene.Socket, run recording.Interval) (helpers []*scene.Process, comm string) {
	holds := func(pid int) bool {
		return slices.ContainsFunc(k.Owners, func(p *scene.Process) bool { return p.Subject.PID == pid })
	}
	by, changed := map[string][]*scene.Process{}, map[string]bool{}
	for _, p := range s.Processes {
		first := p.First()
		if !holds(first.PPID) || holds(p.Subject.PID) || !slices.ContainsFunc(p.Sockets, func(c *scene.Socket) bool {
			return c.Listener != nil && c.Listener != k && slices.ContainsFunc(c.Listener.Owners, func(o *scene.Process) bool { return holds(o.Subject.PID) })
		}) {
			continue
		}
		by[first.Comm] = append(by[first.Comm], p)
		changed[first.Comm] = changed[first.Comm] || first.Start > run.Start
	}
	for _, x := range r.Exits {
		if holds(x.PPID) && x.T >= run.Start && x.T <= run.End.Add(-time.Second) {
			changed[x.Comm] = true
		}
	}
	for name, all := range by {
		if !changed[name] && (len(all) > len(helpers) || len(all) == len(helpers) && name < comm) {
			helpers, comm = all, name
		}
	}
	return helpers, comm
}

func noMoreHelpers(s *scene.Scene, r *recording.Recording, k *scene.Socket, run recording.Interval, most int, helpers []*scene.Process, comm string, idle, looks int) suspect.Finding {
	holder := k.Owners[0].Subject
	n := len(helpers)
	f := suspect.Finding{Subject: k.Subject, Active: []recording.Interval{run}, Related: []recording.Subject{holder},
		Text: fmt.Sprintf("it has %d processes named %s and starts no more, and up to %d connections wait for one", n, comm, most),
		Next: fmt.Sprintf("ps --ppid %d -o comm= | sort | uniq -c; ss -lx 'src %s'   # how many it has of each, and who waits", holder.PID, recording.Port(k.Subject.Local))}
	var listeners []*scene.Socket
	for _, p := range helpers {
		for _, c := range p.Sockets {
			if c.Listener != nil && c.Listener != k && !slices.Contains(listeners, c.Listener) {
				listeners = append(listeners, c.Listener)
				f.Related = append(f.Related, c.Listener.Subject)
			}
		}
	}
	for _, p := range helpers[:min(n, measure.MostRelated)] {
		f.Related = append(f.Related, p.Subject)
	}
	open, seconds := 0.0, map[recording.Time]bool{}
	for _, t := range r.Turns {
		if t.Role == "serve" && t.T >= run.Start && t.T < run.End && slices.ContainsFunc(listeners, func(l *scene.Socket) bool {
			c := s.ListenerOn(t.Netns, t.Local)
			return c == l
		}) {
			open, seconds[t.T] = open+float64(t.Open), true
		}
	}
	open /= float64(max(1, len(seconds)))
	lasted := units.Lasting(run.End.Sub(run.Start).Seconds())
	use := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(n), Unit: "processes", Source: source.Of("table processes").And(source.AllTurns), Origin: "processes",
		Text: fmt.Sprintf("%d processes named %s stayed, each with a client, none began and none ended meanwhile; %.2g requests were open at a moment", n, comm, open)}
	if open > atWork*float64(n) {
		use.Side, use.Grade = suspect.Against, suspect.Decisive
		use.Text += ": they are at work"
	}
	f.Evidence = []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Value: float64(most), Unit: "connections", Source: source.SS("-ltn", source.RecvQ).And(source.ThreadState), Origin: "sockets",
			Text: fmt.Sprintf("for %s none of up to %d connections that waited was taken, and %s, which holds the listener, waited for work in %.0f %% of the samples", lasted, most, holder.Name, 100*float64(idle)/float64(looks))},
		use,
	}
	f.Harm = suspect.Harm{Symptom: scene.ConnectLatency, Amount: run.End.Sub(run.Start).Seconds(), Unit: "s", Text: fmt.Sprintf("up to %s waited for %s", units.Plural(most, "connection"), lasted)}
	f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("%s: a limit above %d processes named %s in its configuration, if its memory allows, and a shorter idle timeout.", holder.Comm, n, comm),
		Program: "Clients that share connections, and leave when they have nothing to ask."}
	return f
}
