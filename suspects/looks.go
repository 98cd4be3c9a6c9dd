package suspects

import (
	"fmt"
	"sort"
	"time"

	"snag/recording"
	"snag/scene"
)

// look is all threads of a process as one tick of the probe saw them.
type look struct {
	T    recording.Time
	Rows []recording.Thread
}

// apart: the rows of one tick follow each other within milliseconds, ticks are a
// second apart, but for the last one, which sees every thread once more.
const apart = 300 * time.Millisecond

// looksAt parts the threads' rows of a process into the ticks that wrote them.
// Stopped threads are left out: they wait for nobody.
func looksAt(p *scene.Process) []look { return looksOf(p.Threads) }

func looksOf(threads []*scene.Thread) []look {
	var rows []recording.Thread
	for _, t := range threads {
		for _, row := range t.Rows {
			if row.State != "T" && row.State != "t" {
				rows = append(rows, row)
			}
		}
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].T < rows[j].T })
	var out []look
	for _, row := range rows {
		n := len(out)
		if n > 0 && row.T.Sub(out[n-1].Rows[len(out[n-1].Rows)-1].T) < apart && out[n-1].thread(row.TID) == nil {
			out[n-1].Rows = append(out[n-1].Rows, row)
			continue
		}
		out = append(out, look{row.T, []recording.Thread{row}})
	}
	return out
}

// thread is the row of that thread in the look, or nil.
func (l look) thread(tid int) *recording.Thread {
	for i := range l.Rows {
		if l.Rows[i].TID == tid {
			return &l.Rows[i]
		}
	}
	return nil
}

// spansOf joins the looks in which something held, each until the next look.
func spansOf(looks []look, holds func(i int) bool) []recording.Interval {
	var out []recording.Interval
	for i := range looks {
		if !holds(i) {
			continue
		}
		end := looks[i].T.Add(time.Second)
		if i+1 < len(looks) {
			end = looks[i+1].T
		}
		out = append(out, recording.Interval{Start: looks[i].T, End: end})
	}
	return mergeIntervals(out, 0)
}

// socketOn is the socket that a descriptor of the process stands for, or nil.
func socketOn(p *scene.Process, fd int) *scene.Socket {
	if fd < 0 || p == nil {
		return nil
	}
	for _, k := range p.Sockets {
		for _, row := range k.Rows {
			for _, o := range row.Owners {
				if o.PID == p.Subject.PID && o.FD == fd {
					return k
				}
			}
		}
	}
	return nil
}

// socketAt is the socket that a thread's descriptor stood for when it was looked at: a
// number is used again for the next connection.
func socketAt(p *scene.Process, row recording.Thread) *scene.Socket {
	if row.FD < 0 || p == nil {
		return nil
	}
	var best *scene.Socket
	var least time.Duration
	for _, k := range p.Sockets {
		if !hasDescriptor(k, p, row.FD) {
			continue
		}
		away := max(k.First().T.Sub(row.T), row.T.Sub(k.Last().T), 0)
		if best == nil || away < least {
			best, least = k, away
		}
	}
	return best
}

// requestsWait is in how many of the seconds of active data or connections waited
// at a socket that the process serves, and the worst of them.
func requestsWait(p *scene.Process, active []recording.Interval) (seconds, of int, worst *scene.Socket, most int) {
	all, waits := map[recording.Time]bool{}, map[recording.Time]bool{}
	for _, k := range p.Sockets {
		if k.First().Proto != "udp" && !k.Listening() && k.Listener == nil {
			continue // it calls somebody there
		}
		for _, row := range k.Rows {
			if !covers(active, row.T) || row.Proto == "tcp" && row.State != "ESTABLISHED" && row.State != "LISTEN" {
				continue
			}
			second := row.T / recording.Time(time.Second)
			all[second] = true
			if row.RecvQ > 0 {
				waits[second] = true
				if row.RecvQ > most {
					worst, most = k, row.RecvQ
				}
			}
		}
	}
	return len(waits), len(all), worst, most
}

// turnsOf sums the request turns that a process served (or, role call, asked of
// that remote; "" for all) in the intervals.
func turnsOf(r *recording.Recording, pid int, role, remote string, active []recording.Interval) recording.Turns {
	var sum recording.Turns
	for _, t := range r.Turns {
		if t.PID != pid || t.Role != role || remote != "" && t.Remote != remote || !covers(active, t.T) {
			continue
		}
		sum.N += t.N
		sum.Sum += t.Sum
		sum.Wait += t.Wait
		sum.Max = max(sum.Max, t.Max)
		sum.Open = max(sum.Open, t.Open)
		sum.Oldest = max(sum.Oldest, t.Oldest)
	}
	return sum
}

// fewThreads of a process can queue for something inside of it.
const fewThreads = 4

// unlooked is a process of many threads at which something waits and whose threads'
// calls were not read: what they wait for can't be told, and is not cleared.
func unlooked(p *scene.Process, s *scene.Scene, r *recording.Recording, what string) (Finding, bool) {
	for _, t := range p.Threads {
		for _, row := range t.Rows {
			if row.Syscall != "" {
				return Finding{}, false
			}
		}
	}
	sym, ok := latencyOf(s, p.Subject.PID)
	if !ok || p.Last().Threads < fewThreads {
		return Finding{}, false
	}
	pid := p.Subject.PID
	c, _ := r.Measured("threads.syscall")
	why := "its threads' calls were not read"
	if c.Why != "" {
		why += ": " + c.Why
	}
	return Finding{Subject: p.Subject, Text: fmt.Sprintf("%s can't be told of %s: its threads were not looked at", what, p.Subject.Name),
		Evidence: []Evidence{
			{Side: For, Grade: Strong, Source: sym.Name, Origin: "symptom", Text: fmt.Sprintf("%s; it has %d threads", sym.Text, p.Last().Threads)},
			{Side: Missing, Source: "threads.syscall", Text: why},
		},
		Next: fmt.Sprintf("sudo snag find --pid %d   # or: head /proc/%d/task/*/{wchan,syscall}", pid, pid)}, true
}

// latencyOf is a symptom of a process, or of one of its listeners, that somebody
// waits for it.
func latencyOf(s *scene.Scene, pid int) (scene.Symptom, bool) {
	for _, sym := range s.Symptoms {
		switch sym.Name {
		case scene.RequestLatency, scene.ConnectLatency, scene.StreamFreeze, scene.ThroughputPlateau:
			if sym.Subject.PID == pid {
				return sym, true
			}
		}
	}
	return scene.Symptom{}, false
}
