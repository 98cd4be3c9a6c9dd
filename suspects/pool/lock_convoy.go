package pool

import (
	"cmp"
	"fmt"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var lockConvoy = &suspect.Suspect{
	Name:  "lock-convoy",
	Title: "most threads queue for one lock",
	About: "One thread holds a lock while it waits for something else (a read, a disk), and all others that want the lock wait behind it: as many threads as there may be, the process does one thing at a time. " +
		"Its CPU is idle. A pool with nothing to do waits in futex too, for work: no thread holds that.",
	Needs: []suspect.Need{
		{Measure: "sockets.diag", Must: true, Why: "at which processes something waits; what the holder's descriptor is"},
		{Measure: "threads.syscall", Why: "the address that each thread waits on, and who holds that lock"},
		{Measure: "threads.state", Why: "whether the holder sleeps"},
		{Measure: "locks.futex", Why: "each wait for a lock: how many threads, how often, how long"},
		{Measure: "locks.owner", Why: "the holder's function, and the call that it sits in"},
		{Measure: "sockets.turns", Why: "how long its answers take"},
		{Measure: "runtimes.go-locks", Why: "Go's mutexes, for which goroutines wait and no thread does"},
	},
	InTrace: []string{recording.Trace, "locks.futex"},
	For: []string{
		"decisive: half of its threads or more wait for one lock (23 of 24), sample after sample, and the lock's own word names a thread that sleeps in a call meanwhile",
		"strong: half of its threads or more wait in futex on one address for a lock; counted: those who want the lock spend half of their time or more waiting for it",
		"strong: where the lock's word names no holder, the waiters are woken by threads of one function. Where each parks on its own word (Java), or the word is a semaphore's (Python), each is woken by the one before, and one at a time has it",
		"strong: a quarter of the delay of its answers or more was waiting for a lock; and in half of those samples or more for one and the same",
		"strong: three threads or more call one destination, and never two at once, while requests wait: whoever is in the call has what the others want; and a quarter of the delay or more is in line behind these calls",
		"strong: requests wait at its sockets meanwhile, or their answers take that long",
		"strong: a quarter of the delay of its answers or more was waiting for the lock of a file (flock, fcntl), by two threads or processes at least",
		"strong, twice: its threads waited for one lock, for as long in all (within a third) as its late answers took longer than half of them do",
	},
	Against: []string{
		"can't tell, without a closer look: whether a word is a lock's or a condition's. That is so where one in a hundred answers takes ten times as long as half of them, and threads wait at one word for as long in all as these take",
		"strong: its threads wait for a signal (a condition), which no thread holds: an idle pool",
		"strong: nothing waits at its sockets: no client was seen delayed",
		"trap: threads that take turns to wait for work (a leader and its followers): who holds the lock sits in accept or epoll_wait",
		"trap: calls that one thread makes, one after the other (one worker), or that share one connection (pool-exhausted)",
		"trap: whoever holds it is kept from running by a quota: the lock is let go late for that (cpu-throttled)",
		"trap: threads that wake each other for work: several work at once, or always the same one",
		"can't tell: which of Java's monitors it is, where its methods have no names (jstack); Go's locks without uprobes (--go-locks, a goroutine dump)",
	},
	LeadsTo: []suspect.Lead{
		{To: "session-lock", Lag: 5 * time.Second},
		{To: "server-stall", Lag: 5 * time.Second}, {To: "encoder-stall", Lag: 5 * time.Second}, {To: "reader-stall", Lag: 5 * time.Second},
		{To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.ConnectLatency, Lag: 10 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.StreamLate, Lag: 5 * time.Second},
		{To: scene.ThroughputPlateau, Lag: 5 * time.Second}, {To: scene.LogSilence, Lag: 10 * time.Second}, {To: "listen-overflow", Lag: 10 * time.Second}, {To: "worker-queue", Lag: 10 * time.Second}, {To: "slow-dependency", Lag: 5 * time.Second}, {To: "udp-receive-buffer-full", Lag: 5 * time.Second}},
	Claims:      []ledger.Account{ledger.Lock},
	Remedy:      suspect.Remedy{Program: "Do not wait for others while holding the lock. A lock for each connection or shard, or a pool of what the lock guards."},
	Verified:    "half of the threads are in futex on one address in no sample",
	Next:        "cat /proc/PID/task/*/syscall   # 202 ADDRESS 0x80 0x2 is a wait for the lock at ADDRESS; eu-stack -p PID",
	WeighBooked: weighLockConvoy,
}

func weighLockConvoy(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) []suspect.Finding {
	out := fileLocks(r, l)
	for _, p := range s.Processes {
		if p.Subject.PID == r.Manifest.SelfPID {
			continue
		}
		c := convoyOf(p, r)
		measured := c != nil && (c.seen() || c.counted != nil)
		if f := bookedConvoy(p, r, l); f != nil && !measured {
			out = append(out, *f)
			continue
		}
		if f := calledAlone(p, l); f != nil && !measured {
			out = append(out, *f)
			continue
		}
		if f, ok := tailAtOneWord(p, r, l); ok && !measured {
			out = append(out, f)
			continue
		}
		switch {
		case c == nil:
			if f, ok := unlooked(p, s, r, "that its threads queue for a lock"); ok {
				out = append(out, f)
			}
		case measured:
			out = append(out, c.finding(s, r))
		case c.pool >= fewJams && len(c.jammed) == 0:
			out = append(out, c.idle())
		}
	}
	return out
}

// idle is a pool whose threads wait for work.
func (c *convoy) idle() suspect.Finding {
	return suspect.Finding{Subject: c.process.Subject, Text: "its threads wait for work",
		Evidence: []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Strong, Value: float64(c.pooled), Unit: "threads", Source: source.Calls, Origin: "futex",
			Text: fmt.Sprintf("up to %d of its threads wait on one address for a signal, which no thread holds: an idle pool", c.pooled)}}}
}

func (c *convoy) finding(s *scene.Scene, r *recording.Recording) suspect.Finding {
	f := suspect.Finding{Subject: c.process.Subject}
	if c.seen() {
		c.fromLooks(&f)
	}
	if l := c.counted; l != nil {
		c.fromCounts(&f)
		if !c.seen() {
			c.active = l.active
		}
	}
	f.Active = c.active
	if c.seen() && len(c.jammed) == len(c.looks) || !c.seen() && c.counted.always() {
		f.Active = nil // so it was when it was first looked at, which may be seconds after the window began
	}
	if c.socket != nil {
		f.Related = append(f.Related, c.socket.Subject)
	}
	wait := c.waited()
	e, late := c.delayed(s, r, wait)
	f.Evidence = append(f.Evidence, e)
	if late {
		f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: wait, Unit: "s", Text: fmt.Sprintf("each time, a thread waits for the lock for %s or more", units.Lasting(wait))}
	}
	where, named := c.process.Subject.Comm, c.counted != nil && c.counted.caller != ""
	if named {
		where += ", in " + c.counted.caller
	}
	f.Remedy = suspect.Remedy{Program: fmt.Sprintf("%s: let go of the lock before waiting for others, or split it.", where)}
	if c.socket != nil {
		f.Remedy.Program = fmt.Sprintf("%s: do not hold the lock while %s is waited for. A pool of connections, or a lock for each.", where, cmp.Or(c.socket.First().Remote, c.socket.First().Local))
	}
	if named {
		return f
	}
	// Which lock it is in the program only its stack tells.
	f.Next = stackOf(c.process, fmt.Sprintf(" at 0x%x", c.address))
	return f
}

// fromLooks adds what was seen once a second.
func (c *convoy) fromLooks(f *suspect.Finding) {
	pid := c.process.Subject.PID
	looks, _ := measure.ShareOf(len(c.jammed), len(c.looks))
	f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(c.waiters), Unit: "threads", Source: source.CallsOf(pid), Origin: "futex",
		Text: fmt.Sprintf("up to %d of its %d threads waited for the lock at 0x%x, in %s samples", c.waiters, c.threads, c.address, looks)})
	f.Text = fmt.Sprintf("up to %d of %d threads wait for one lock", c.waiters, c.threads)
	f.Evidence = append(f.Evidence, c.holderEvidence()...)
	if c.blocked > 0 {
		if len(c.holders) > 1 {
			f.Text += fmt.Sprintf("; its holder at the time is %s", c.doing())
		} else {
			f.Text += fmt.Sprintf("; its holder (thread %d) is %s", c.holder.TID, c.doing())
		}
		f.Related = append(f.Related, recording.Subject{Kind: recording.KindThread, PID: pid, TID: c.holder.TID, Comm: c.holder.Comm})
	}
}

// fromCounts adds what the closer look counted.
func (c *convoy) fromCounts(f *suspect.Finding) {
	l, pid := c.counted, c.process.Subject.PID
	f.Evidence = append(f.Evidence, l.evidence(pid))
	f.Text = fmt.Sprintf("up to %d of %d threads wait for one lock, %s in all", l.waiters, max(c.process.Last().Threads, l.waiters), units.Lasting(l.sum))
	if l.unlocks > 0 {
		f.Text = fmt.Sprintf("up to %s wait for one mutex, %s in all", units.Plural(l.waiters, "goroutine"), units.Lasting(l.sum))
	}
	if e, ok := l.holderEvidence(c.process); ok {
		f.Evidence = append(f.Evidence, e)
		f.Text += ", held by " + l.doing(c.process)
		f.Related = append(f.Related, recording.Subject{Kind: recording.KindThread, PID: pid, TID: l.holder.Owner, Comm: l.holder.OwnerComm})
	}
	if k := l.socket(c.process); k != nil {
		c.socket = k
	}
	if c.address == 0 {
		c.address = l.address
	}
}

// holderEvidence is what the lock's own word says.
func (c *convoy) holderEvidence() []suspect.Evidence {
	word := source.Ofs("the lock's word (process_vm_readv), /proc/%d/task/%d/syscall", c.process.Subject.PID, c.holder.TID).With(source.States)
	switch {
	case c.owned == 0:
		return []suspect.Evidence{{Side: suspect.For, Grade: suspect.Weak, Source: word, Origin: "lock word", Text: "who holds it is not known: the lock's word names no holder (not a mutex of glibc)"}}
	case c.blocked == 0 && c.ran == 0:
		return nil // it changed hands faster than two files can be read
	case c.blocked >= c.ran:
		grade := suspect.Decisive
		if c.blocked < fewJams || 2*c.blocked < len(c.jammed) {
			grade = suspect.Strong
		}
		looks, share := measure.ShareOf(c.blocked, len(c.jammed))
		return []suspect.Evidence{{Side: suspect.For, Grade: grade, Value: share, Unit: "share", Source: word, Origin: "lock word",
			Text: fmt.Sprintf("the lock's own word names its holder, who was asleep in %s of those samples: thread %d, %s", looks, c.holder.TID, c.doing())}}
	}
	looks, share := measure.ShareOf(c.ran, len(c.jammed))
	return []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: word, Origin: "lock word",
		Text: fmt.Sprintf("the lock's own word names its holder, who was on a CPU in %s of those samples (thread %d): the section under the lock is long", looks, c.holder.TID)}}
}

// lateAnswers: a process answers late when its turns take ten times as long as
// the 5 ms that a user may notice.
const lateAnswers = 0.05

// delayed is whether anybody is: requests wait unread, or answers take long.
func (c *convoy) delayed(s *scene.Scene, r *recording.Recording, wait float64) (suspect.Evidence, bool) {
	n, of, worst, most := requestsWait(c.process, c.active)
	if n >= fewJams && 2*n >= of {
		what := units.Bytes(float64(most)) + " waited to be read on " + worst.First().Local
		if worst.Listening() {
			what = units.Plural(most, "connection") + " waited to be accepted on " + worst.First().Local
		}
		seconds, share := measure.ShareOf(n, of)
		return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.SS("-tnp", source.RecvQ), Origin: "receive queues",
			Text: fmt.Sprintf("in %s seconds requests waited meanwhile: up to %s", seconds, what)}, true
	}
	if t := measure.TurnsOf(r, c.process.Subject.PID, "serve", "", c.active); t.N > 0 && t.Sum/float64(t.N) >= lateAnswers || t.Oldest >= 1 {
		mean := t.Oldest
		if t.N > 0 {
			mean = t.Sum / float64(t.N)
		}
		return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: mean, Unit: "s", Source: source.Turns, Origin: "turns",
			Text: fmt.Sprintf("its answers took %s on average meanwhile (%s answers)", units.Lasting(mean), units.Count(float64(t.N)))}, true
	}
	for _, sym := range s.Symptoms {
		if sym.Subject.PID == c.process.Subject.PID {
			return suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Source: source.SS("-tnp"), Origin: "symptom", Text: "meanwhile: " + sym.Text}, true
		}
	}
	if _, ok := r.Measured("sockets.diag"); !ok {
		return suspect.Evidence{Side: suspect.Missing, Source: source.Of("sockets.diag"), Text: "whether anything waited at its sockets was not seen"}, wait >= lateAnswers
	}
	return suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Source: source.SS("-tnp", source.RecvQ), Origin: "receive queues", Text: "nothing waited at its sockets: no client was seen delayed"}, false
}
