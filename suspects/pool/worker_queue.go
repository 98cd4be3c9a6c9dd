package pool

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var workerQueue = &suspect.Suspect{
	Name:  "worker-queue",
	Title: "requests queue for too few workers, which sleep",
	About: "The handlers wait (for a disk, another service, a sleep) and hold their thread meanwhile: with as many requests under way as there are workers, the next ones wait unread in the socket buffer. " +
		"The CPU is idle, throughput is flat, and the delay grows as long as more comes than the workers can take. A slow handler is as late when no request waits: its time is inside.",
	Needs: []suspect.Need{
		{Measure: "sockets.diag", Must: true, Why: "requests that wait unread in the socket buffer"},
		{Measure: "sockets.turns", Why: "how much of an answer's time passed before the request was read"},
		{Measure: "threads.syscall", Why: "what the workers do meanwhile"},
		{Measure: "states", Why: "whether one of them was free while requests waited"},
		{Measure: "offcpu.waits", Why: "where they are blocked, each wait counted, and in which function"},
		{Measure: "locks.futex", Why: "which of them wait for work on a condition"},
		{Measure: "host.processes", Why: "its CPU time"},
	},
	InTrace: []string{recording.Trace, "sockets.turns"},
	For: []string{
		"strong: half of an answer's time or more, and 20 ms, passed before its request was read; a third, where the threads were seen to be taken meanwhile",
		"strong: requests waited unread in the buffer of its sockets in most seconds",
		"strong, from a trace of its calls: its answers keep all of its workers busy (N = X·R), which next to never waited for work",
		"strong: a third of the time of its requests or more passed in line, while all threads were taken by others and slept in calls",
		"strong: the same of the seconds in which most of the delay fell, where they are few, and a third of an answer's time before its request was read",
		"strong: the helpers that it started and asks over pipes or pairs of sockets were all at work in nine of ten samples. A third or more of the requests that they took time of waited in line for them",
		"strong: as many calls were open at any moment as threads were found in them, and strong: a third of its requests' time or more had no thread while they waited inside, read at once",
		"strong: it answered as many requests in each of eight seconds and more, within a tenth, though more came in some and twice as many were open. And strong: no thread worked on them, called or waited for a lock, and it used half a CPU at most",
		"strong: in most samples none of its threads was free, and they slept in a call; by the scheduler's word their time off the CPU was in the handlers' calls, and the function is named",
	},
	Against: []string{
		"decisive: while requests waited unread in the socket buffer, the service worked on fewer than 0.2 requests on average, or on fewer than two thirds of the number of threads that slept in calls. Most of these threads do not serve requests",
		"decisive: the requests were read at once, and the time passed inside: a slow handler",
		"strong: its threads were on a CPU: it computes",
		"strong: a thread was free for the next request",
		"strong: by the scheduler's word they waited for work most of the time",
		"strong: they wait for a peer that takes 0.35 s or longer, or has become slow: more workers would wait there too (slow-dependency)",
		"can't tell: which handler it is where its waits were not recorded, or it has no frame pointers (its stack: eu-stack -p PID)",
	},
	LeadsTo: []suspect.Lead{
		{To: "server-stall", Lag: 5 * time.Second},
		{To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.ConnectLatency, Lag: 10 * time.Second}, {To: scene.ThroughputPlateau, Lag: 5 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second},
		{To: "listen-overflow", Lag: 10 * time.Second}, {To: "unix-backlog", Lag: 10 * time.Second}, {To: "udp-receive-buffer-full", Lag: 10 * time.Second}, {To: "slow-dependency", Lag: 5 * time.Second}, {To: "peer-reset", Lag: time.Minute}},
	Claims: []ledger.Account{ledger.Sleep, ledger.Call, ledger.Child, ledger.Disk, ledger.Pipe, ledger.Unread},
	Remedy: suspect.Remedy{
		Permanently: "More workers in the server's settings, or a limit from which it sheds load early.",
		Program:     "Handlers that do not block (async), or wait less.",
	},
	Verified: "requests are read at once (the wait before the read is near 0)",
	Next:     "head /proc/PID/task/*/{wchan,syscall}; ss -tnp   # Recv-Q of its connections",

	WeighBooked: weighWorkerQueue,
}

// longWaitUnread is the mean wait before a request is read from which users notice
// it; on a busy healthy host it is under a millisecond, and a slice of the scheduler
// is 4 ms.
const longWaitUnread = 0.02

func weighWorkerQueue(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) []suspect.Finding {
	var out []suspect.Finding
	rows := waitRowsOf(r)
	for _, w := range poolsOf(s, r) {
		if len(w.head.Sockets) == 0 {
			continue
		}
		if f, ok := helpersTaken(w, l); ok {
			out = append(out, f)
		} else if f, ok := callersTaken(w, r, s.Window, l); ok {
			out = append(out, f)
		} else if f, ok := steadyRate(w, s, r, l); ok {
			out = append(out, f)
		} else if f, ok := queueOf(w, s, r, l, rows); ok {
			out = append(out, f)
		}
	}
	return out
}

func queueOf(p *pool, s *scene.Scene, r *recording.Recording, l *ledger.Ledger, rows waitRows) (suspect.Finding, bool) {
	whole := []recording.Interval{s.Window}
	turns := p.turns(r, "serve", "", whole)
	mean, wait := 0.0, 0.0
	if turns.N > 0 {
		mean, wait = turns.Sum/float64(turns.N), turns.Wait/float64(turns.N)
	}
	waited, of, worst, most := p.requestsWait(whole)
	queued := standsInLine(waited, of)
	slow := mean >= 10*longWaitUnread && wait < 0.1*mean
	w, waits, line := workersOf(p), poolWaitsOf(p, r, rows), allTaken(p, l)
	late := wait >= longWaitUnread && (wait >= 0.5*mean || line != nil && wait >= inLine*mean)
	full := fullHouseOf(turns, waits, s.Window, r)
	var active []recording.Interval
	if !late && line == nil {
		if now, while, taken := takenWhile(p, r, l); taken != nil {
			turns, active, line, late = now, while, taken, true
			mean, wait = turns.Sum/float64(turns.N), turns.Wait/float64(turns.N)
		}
	}
	switch {
	case slow && !late && !queued && full == nil: // the time is inside
		return suspect.Finding{Subject: p.head.Subject, Text: "its handlers are slow, and no request queues for them",
			Evidence: []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: wait, Unit: "s", Source: source.Turns, Origin: "turns",
				Text: fmt.Sprintf("its answers took %s on average, and each request was read after %s: the time is inside", units.Lasting(mean), units.Lasting(wait))}}}, true
	case !late && !queued && full == nil && line == nil || p.stopped(r, s.Window):
		return suspect.Finding{}, false
	}
	if _, _, ok := ledger.SleepingLoop(r, p.head.Subject.PID); ok && line != nil && len(p.workers) == 1 {
		return suspect.Finding{}, false // it has one worker by nature (busy-thread)
	}
	length := s.Window.Length(s.Window.End).Seconds()
	if active != nil {
		length = seconds(active)
	}
	rate := float64(turns.N) / max(length, 1)
	if w.looks == 0 && waits == nil {
		return unlooked(p.workers[0], s, r, "that its workers are all taken")
	}
	f := suspect.Finding{Subject: p.head.Subject, Active: active, Related: p.related(), Text: fmt.Sprintf("requests wait for its %s, which sleep in %s", units.Plural(w.threads, w.noun), cmp.Or(w.most(), "other calls"))}
	if late {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: wait, Unit: "s", Source: source.Turns, Origin: "turns",
			Text: fmt.Sprintf("%s answers took %s on average, and %s (%.0f %%) of that passed before the request was read%s", units.Count(float64(turns.N)), units.Lasting(mean), units.Lasting(wait), 100*wait/mean, littlesLaw(rate, mean-wait, w))})
	}
	if queued {
		part, share := measure.ShareOf(waited, of)
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.SS("-tnp", source.RecvQ), Origin: "receive queues",
			Text: fmt.Sprintf("in %s seconds requests waited at its sockets, up to %s on %s", part, units.Bytes(float64(most)), worst.First().Local)}
		if worst.Listening() {
			e.Text = fmt.Sprintf("in %s seconds connections waited on %s, up to %d", part, worst.First().Local, most)
		}
		f.Evidence = append(f.Evidence, e)
	}
	if full != nil && !late && !queued {
		wait = full.wait()
		f.Evidence = append(f.Evidence, full.evidence(w.noun))
	}
	e, looked := w.evidence(p)
	if busy, of := p.underWay(r); of > 0 && (busy < nobodyInside || busy < mostSleepInside*w.sleepers()) {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: busy, Unit: "requests", Source: source.Turns.And(p.source()), Origin: "under way",
			Text: fmt.Sprintf("in the %d seconds in which requests waited unread in the socket buffer, it worked on %.2g requests on average, and %.2g of its threads slept in calls: most of these threads do not serve requests", of, busy, w.sleepers())})
		line = nil
	}
	if line != nil {
		e, looked = *line, true // 20 looks per second, each told with the requests that waited
	} else if one := oneAtATime(p, rate, mean-wait); late && one != nil {
		e, looked, w.threads = *one, true, 1
		f.Text = "requests wait for its one worker, which waits itself"
	}
	if looked {
		f.Evidence = append(f.Evidence, e)
	}
	if waits != nil {
		f.Evidence = append(f.Evidence, waits.evidence())
		if !looked {
			e = waits.evidence()
		}
		if !looked || waits.call == threadSleep {
			w.threads = waits.threads
			f.Text = fmt.Sprintf("requests wait for its %s, which sleep in %s", units.Plural(waits.threads, w.noun), waits.call)
		}
		if waits.function != "" {
			f.Text += ", called by " + waits.function
		}
	}
	jammed := false
	if p.convoys(r) {
		jammed = true
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Source: p.source(), Origin: "futex",
			Text: "its threads wait for a lock, not for others: more workers would only make that queue longer"})
	}
	if peer, mean := slowPeer(p, s, r, w); peer != "" {
		jammed = true
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: mean, Unit: "s", Source: source.CallTurns, Origin: "calls",
			Text: fmt.Sprintf("its threads wait for %s, for %s at a time: more workers would only wait there too", peer, units.Lasting(mean))})
	}
	if e.Side == suspect.For && e.Grade == suspect.Weak || e.Side == suspect.Against || jammed {
		// Unread requests alone are every overload's: nothing says that it is the workers.
		for i := range f.Evidence {
			if f.Evidence[i].Side == suspect.For {
				f.Evidence[i].Grade = suspect.Weak
			}
		}
	}
	if wait > 0 {
		f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: wait, Unit: "s", Text: fmt.Sprintf("a request waits for %s until a worker reads it", units.Lasting(wait))}
	}
	workers, where := w.threads, cmp.Or(w.most(), "a call")
	if waits != nil {
		workers, where = max(w.threads, waits.threads), waits.where()
	}
	f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("%s: more workers than %d in its configuration.", p.head.Subject.Comm, workers), Program: fmt.Sprintf("Handlers that do not hold a worker while they wait in %s.", where)}
	if turns.N > 0 {
		f.Remedy.Permanently += fmt.Sprintf(" It answers %.0f per second now.", rate)
	}
	if waits == nil || waits.function == "" {
		f.Next = fmt.Sprintf("eu-stack -p %d   # which handler waits", p.workers[0].Subject.PID)
	}
	return f, true
}

// nobodyInside is how many requests are under way at most where no worker has one. Of threads that
// sleep in requests there are no more than requests under way: where they are fewer than
// mostSleepInside of the sleepers, some sleep without one, until a timer lets them look for work.
const nobodyInside, mostSleepInside = 0.2, 2.0 / 3

// underWay is how many requests that had been read were under way at a moment, on average over the
// seconds in which those that waited unread had most of the time, and how many such seconds there were.
func (p *pool) underWay(r *recording.Recording) (busy float64, seconds int) {
	took, unread := map[recording.Time]float64{}, map[recording.Time]float64{}
	for _, row := range r.Turns {
		if row.Role == "serve" && (p.worker(row.PID) != nil || row.PID == p.head.Subject.PID) {
			took[row.T], unread[row.T] = took[row.T]+row.Sum, unread[row.T]+row.Wait
		}
	}
	for t, sum := range took {
		if sum >= 0.5 && unread[t] >= 0.5*sum {
			busy += sum - unread[t]
			seconds++
		}
	}
	return busy / float64(max(seconds, 1)), seconds
}

// inLine is the part of the requests' time from which a service has too few workers: a third
// of it is half as long again as an answer takes. Services with workers to spare show under 0.1.
const inLine = 1.0 / 3

// allTaken tells by the states of its threads that no worker was free while requests waited,
// since they slept in calls; nil where that is not so or was not seen. More workers compute no
// faster.
func allTaken(p *pool, l *ledger.Ledger) *suspect.Evidence {
	share := 0.0
	for _, w := range slices.Concat(p.workers, []*scene.Process{p.head}) {
		share = max(share, l.InLine(w.Subject.PID, ledger.Sleep, ledger.Call, ledger.Child, ledger.Disk, ledger.Pipe))
	}
	if share < inLine {
		return nil
	}
	return &suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.ThreadState, Origin: "threads' calls",
		Text: fmt.Sprintf("for %.0f %% of the time of its requests all its threads were taken by others, and slept in their calls", 100*share)}
}

// takenWhile is the same of some seconds, with the answers of these: between its episodes a service
// has workers to spare, and all of the window hides them.
func takenWhile(p *pool, r *recording.Recording, l *ledger.Ledger) (recording.Turns, []recording.Interval, *suspect.Evidence) {
	for _, w := range p.workers {
		share, while := l.InLineWhile(w.Subject.PID, ledger.Sleep, ledger.Call, ledger.Child, ledger.Disk, ledger.Pipe)
		turns := p.turns(r, "serve", "", while)
		if share < inLine || turns.N == 0 || turns.Wait < longWaitUnread*float64(turns.N) || turns.Wait < inLine*turns.Sum {
			continue
		}
		return turns, while, &suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.ThreadState, Origin: "threads' calls",
			Text: fmt.Sprintf("in the %s in which most of the delay fell, requests waited unread or in line for %.0f %% of their time, while all its threads slept in calls of others", units.Lasting(seconds(while)), 100*share)}
	}
	return recording.Turns{}, nil, nil
}

// seconds is how long some intervals are together.
func seconds(all []recording.Interval) (sum float64) {
	for _, i := range all {
		sum += i.End.Sub(i.Start).Seconds()
	}
	return sum
}

// oneAtATime tells by Little's law that a service has one request under way at any moment, and
// next never none, which hardly computes or waits for a CPU: whatever threads it has besides,
// they are no workers.
func oneAtATime(p *pool, rate, inside float64) *suspect.Evidence {
	cpu, seconds := 0.0, 0.0
	for _, w := range p.workers {
		for _, t := range w.Threads {
			a, b := t.Rows[0], t.Rows[len(t.Rows)-1]
			cpu += max(b.OnCPU-a.OnCPU, 0) + max(b.RunDelay-a.RunDelay, 0)
			seconds = max(seconds, b.T.Sub(a.T).Seconds())
		}
	}
	busy := rate * inside
	if busy < oneBusy || busy > oneMost || seconds == 0 || cpu/seconds > busy/2 {
		return nil
	}
	return &suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: busy, Unit: "requests", Source: source.Turns.And(source.Schedstat), Origin: "threads' calls",
		Text: fmt.Sprintf("%.3g answers per second, %s inside each, are %.2g requests under way at any moment: it takes one at a time, and ran, or was ready to, for %.0f %% of the time", rate, units.Lasting(inside), busy, 100*cpu/seconds)}
}

// oneBusy to oneMost are one request under way at any moment, to within what two clocks differ.
const oneBusy, oneMost = 0.85, 1.1

// slowPeer is the peer that most of the workers sleep on, or that as many calls are open to
// as there are workers, if what it is asked takes longer than people tolerate, or some calls take
// long and most of the time is theirs: then that is the cause. Too few workers make a queue before
// a peer that takes less as well, and it is the queue that is felt.
func slowPeer(p *pool, s *scene.Scene, r *recording.Recording, w workers) (string, float64) {
	asleep := 0
	for _, n := range w.doing {
		asleep += n
	}
	for _, d := range dependenciesOf(p, r, s.Window) {
		if 2*w.peers[d.remote] <= asleep && float64(d.calls.Open) < takenByCalls*float64(w.threads) {
			continue
		}
		if mean := d.mean(); !d.tolerable(r) {
			return d.remote, mean
		} else if in := d.waitedIn(r); in >= longCall && in >= unevenCalls*mean {
			return d.remote, in
		}
	}
	return "", 0
}

// fewWorkers reports that requests wait for one of a pool's workers, all of which are taken: not for
// a peer whose answer takes less than people tolerate, whichever calls take them.
func fewWorkers(p *pool, d *dependency, r *recording.Recording, window recording.Interval, l *ledger.Ledger) bool {
	if !d.tolerable(r) {
		return false
	}
	if allTaken(p, l) != nil {
		return true
	}
	seconds, of, _, _ := p.requestsWait([]recording.Interval{window})
	e, looked := workersOf(p).evidence(p)
	return standsInLine(seconds, of) && looked && e.Side == suspect.For && e.Grade == suspect.Strong
}

// standsInLine reports whether requests waited in most of the seconds.
func standsInLine(seconds, of int) bool { return seconds >= 3 && 2*seconds >= of }

// takenByCalls is the part of the workers for which a call is open at once, at which they are
// taken by these: PHP waits for an answer in poll, which does not say whose.
const takenByCalls = 0.8

// unevenCalls: of calls of random lengths (exponential) one that is met takes twice as long as
// they do on average.
const unevenCalls = 4

// littlesLaw says how busy the workers are by it: as many are busy at a time as requests come in
// per second, times how long each is inside (N = X·R). Where that is all of them, the next
// request must wait.
func littlesLaw(rate, each float64, w workers) string {
	if rate == 0 || each <= 0 || w.threads == 0 {
		return ""
	}
	text := fmt.Sprintf("; %.3g per second, %s inside each, keep %.1f of its %s busy", rate, units.Lasting(each), rate*each, units.Plural(w.threads, w.noun))
	if rate*each >= 0.85*float64(w.threads) {
		text += ": all that there are"
	}
	return text
}
