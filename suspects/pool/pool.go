package pool

import (
	"fmt"
	"slices"

	"snag/internal/sorting"
	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
)

// pool is who takes the requests of one listener: a process with its threads, or
// processes of one name that share the listener, as gunicorn, php-fpm and nginx fork
// them.
type pool struct {
	// head is the process to name: the one that forked the others, where it has the
	// listener too.
	head    *scene.Process
	workers []*scene.Process // by pid, never empty; without a head that takes no requests
	jam     int              // of jammed: 1 connections nearly always wait, -1 not, 0 not known yet
}

// poolsOf are the pools of a host, snag's own process left out. A process that shares no
// listener is a pool of its own.
func poolsOf(s *scene.Scene, r *recording.Recording) []*pool {
	serves := map[int]bool{}
	for _, t := range r.Turns {
		if t.Role == "serve" && t.N > 0 { // what nobody has read yet is told of the listener's first owner
			serves[t.PID] = true
		}
	}
	done := map[int]bool{r.Manifest.SelfPID: true}
	var out []*pool
	for _, p := range s.Processes {
		if done[p.Subject.PID] {
			continue
		}
		all := sharers(p)
		for _, q := range all {
			done[q.Subject.PID] = true
		}
		out = append(out, poolOf(all, serves))
	}
	return out
}

// sharers are the processes with the name of p that have a listener of its, or the socket of a
// name server, itself too.
func sharers(p *scene.Process) []*scene.Process {
	all := []*scene.Process{p}
	for _, k := range p.Sockets {
		if !k.Listening() && !k.AnswersNames() {
			continue
		}
		for _, q := range k.Owners {
			if q.Subject.Comm == p.Subject.Comm && !slices.Contains(all, q) {
				all = append(all, q)
			}
		}
	}
	sorting.By(all, func(a, b *scene.Process) int { return a.Subject.PID - b.Subject.PID })
	return all
}

func poolOf(all []*scene.Process, serves map[int]bool) *pool {
	w := &pool{head: all[0], workers: all}
	if len(all) == 1 {
		return w
	}
	var forked []*scene.Process
	for _, p := range all {
		parent := slices.ContainsFunc(all, func(q *scene.Process) bool { return ppid(q) == p.Subject.PID })
		if parent {
			w.head = p
		}
		if !parent || serves[p.Subject.PID] {
			forked = append(forked, p)
		}
	}
	if len(forked) > 0 {
		w.workers = forked
	}
	return w
}

// ppid is a process' parent; 0 where that was not read.
func ppid(p *scene.Process) int {
	if len(p.Rows) == 0 {
		return 0
	}
	return p.Last().PPID
}

// forked reports that the workers are processes.
func (w *pool) forked() bool { return len(w.workers) > 1 || w.workers[0] != w.head }

// named is the pool's process with how many take its requests.
func (w *pool) named() string {
	if len(w.workers) > 1 {
		return fmt.Sprintf("%s with %s", w.head.Subject.Name, units.Plural(len(w.workers), "worker"))
	}
	return w.head.Subject.Name
}

// related are the subjects of its workers, apart from its head's.
func (w *pool) related() []recording.Subject {
	var out []recording.Subject
	for _, p := range w.workers {
		if p != w.head {
			out = append(out, p.Subject)
		}
	}
	return out
}

// turns sums the request turns of all its workers.
func (w *pool) turns(r *recording.Recording, role, remote string, active []recording.Interval) recording.Turns {
	var sum recording.Turns
	for _, p := range w.workers {
		t := measure.TurnsOf(r, p.Subject.PID, role, remote, active)
		sum.N += t.N
		sum.Sum += t.Sum
		sum.Wait += t.Wait
		sum.Max = max(sum.Max, t.Max)
		sum.Open += t.Open
		sum.Oldest = max(sum.Oldest, t.Oldest)
	}
	return sum
}

// waitsOnFew are calls in which a thread may wait for work, or for the peer of one request
// (PHP's streams, clients of databases).
var waitsOnFew = map[string]bool{"poll": true, "ppoll": true, "select": true, "pselect6": true}

// idleIn reports whether a worker that sleeps in that call waits for work. Where connections
// wait to be accepted nearly all the time, it would have taken one.
func (w *pool) idleIn(call string) bool {
	return measure.WaitsForWork[call] && (!waitsOnFew[call] || !w.jammed())
}

// jammed reports that connections wait to be accepted nearly all the time.
func (w *pool) jammed() bool {
	if w.jam == 0 {
		w.jam = -1
		waits, of := 0, 0
		for _, k := range w.head.Sockets {
			if !k.Listening() {
				continue
			}
			for _, row := range k.Rows {
				of++
				if row.RecvQ > 0 {
					waits++
				}
			}
		}
		if waits >= 3 && float64(waits) >= poolFull*float64(of) {
			w.jam = 1
		}
	}
	return w.jam > 0
}

// poolFull is the share of the samples in which connections wait at a pool that is full.
const poolFull = 0.8

// worker is the process of that number, or nil.
func (w *pool) worker(pid int) *scene.Process {
	i, ok := slices.BinarySearchFunc(w.workers, pid, func(p *scene.Process, pid int) int { return p.Subject.PID - pid })
	if !ok {
		return nil
	}
	return w.workers[i]
}

// looks are those at all its workers, the threads of one tick together.
func (w *pool) looks() []measure.Look {
	if len(w.workers) == 1 {
		return measure.LooksAt(w.workers[0])
	}
	var threads []*scene.Thread
	for _, p := range w.workers {
		threads = append(threads, p.Threads...)
	}
	return measure.LooksOf(threads)
}

// suffers reports whether somebody was seen to wait for one of them.
func (w *pool) suffers(s *scene.Scene) bool {
	if _, ok := latencyOf(s, w.head.Subject.PID); ok {
		return true
	}
	for _, p := range w.workers {
		if _, ok := latencyOf(s, p.Subject.PID); ok {
			return true
		}
	}
	return false
}

// source is where the calls of its threads were read.
func (w *pool) source() source.Source {
	if len(w.workers) > 1 {
		return source.Calls.As("/proc/PID/task/*/syscall of its workers")
	}
	return source.CallsOf(w.workers[0].Subject.PID)
}

// stopped reports whether one of them was stopped for a while: then it takes no requests,
// and no worker more would help.
func (w *pool) stopped(r *recording.Recording, window recording.Interval) bool {
	return slices.ContainsFunc(w.workers, func(p *scene.Process) bool { return len(measure.StopsOf(p, r, window).Spans) > 0 })
}

// convoys reports whether the threads of one of them wait for a lock.
func (w *pool) convoys(r *recording.Recording) bool {
	return slices.ContainsFunc(w.workers, func(p *scene.Process) bool {
		c := convoyOf(p, r)
		return c != nil && (c.seen() || c.counted != nil)
	})
}

// requestsWait is that of its worst worker: what all of them share, they all have.
func (w *pool) requestsWait(active []recording.Interval) (seconds, of int, worst *scene.Socket, most int) {
	for _, p := range w.workers {
		n, all, k, bytes := requestsWait(p, active)
		if worst == nil || n > seconds {
			seconds, of, worst, most = n, all, k, bytes
		}
	}
	return seconds, of, worst, most
}

// sockets are those of all its workers.
func (w *pool) sockets() []*scene.Socket {
	var out []*scene.Socket
	for _, p := range w.workers {
		out = append(out, p.Sockets...)
	}
	return out
}

// turnsSource is what told of its requests.
func (w *pool) turnsSource() source.Source {
	if recording.StandsIn(w.head.Subject.PID) {
		return source.File("its access log: times of requests and upstreams")
	}
	return source.CallTurns
}
