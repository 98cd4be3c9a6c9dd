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

var slowDependency = &suspect.Suspect{
	Name:  "slow-dependency",
	Title: "a dependency is slow",
	About: "Its threads wait for a database, an upstream, a name server, and its own answers are late by that much. " +
		"If the peer is on this host, its own trouble is looked for there. A call that takes long and that no answer waits for (a nightly job, a long poll) affects no client.",
	Needs: []suspect.Need{
		{Measure: "sockets.diag", Must: true, Why: "which services it calls; the path to them"},
		{Measure: "sockets.turns", Why: "how long each call takes, and how long its own answers"},
		{Measure: "threads.syscall", Why: "the threads that wait in a read from the peer"},
		{Measure: "offcpu.waits", Why: "how long each of those waits takes, and in which function"},
		{Measure: "syscalls.fds", Why: "who is at the other end of a UNIX socket"},
		{Measure: "sockets.queries", Why: "queries to a name server, their answers, and how long it waits where none comes"},
		{Measure: "host.netstat", Why: "datagrams sent and received, for a name server where its queries can't be counted"},
	},
	InTrace: []string{recording.Trace, "sockets.turns"},
	InFiles: map[string][]string{"sockets.diag": {"log.requests", measure.TwoSides, "pcap.flows"}, "sockets.turns": {"log.requests"}},
	For: []string{
		"decisive: its calls to one peer took 0.1 s or longer on average, and together as long as its own answers took inside (within a third)",
		"decisive: it answers nothing, nor are its calls to one peer answered, which were asked before the recording began",
		"decisive: for a while its calls to one peer took 2.5 times as long as at other times, and so much longer took its own answers (within a third), however short both are",
		"strong: its calls to one peer took 0.1 s or longer, or one waits for 1 s and more",
		"strong: two fifths of the time of its own answers, which are late, was waiting for that peer, or in the queue behind a request that does, by the states of its threads",
		"strong, with an objective (--slo): two fifths of what its answers take beyond it is waiting for that peer",
		"strong, against a baseline: a call takes twice as long as there, and its own answers are late for it",
		"strong: in most samples threads of it waited in a read from that peer",
		"strong: its threads were off the CPU in reads from that peer for as long as a call takes (within a third)",
		"decisive, of an access log that was read as a file: the upstream's times ($upstream_response_time) together as long as the requests' ($request_time)",
		"decisive: over a UNIX socket: its threads were off the CPU in reads from one peer for as long in all as its own answers took inside (within a third)",
		"decisive: queries to a name server had no answer, it asked again after its resolver's timeout (5 s, or resolv.conf's), and its own answers took that long",
		"decisive, of a resolver: ten of the queries that it passes on have no answer, which are one in ten, or half as many as it fails its clients; or answers take 0.1 s: all who ask it wait",
		"strong: the name server answers, but in 0.1 s or longer; threads of it were in poll for as long, by the scheduler's word",
		"decisive: by captures of both ends: the server had the late requests for half of their wait or more",
		"decisive (capture): its host acknowledged a request at once, and for three seconds and more nothing was answered: its program has it. Strong where no answer came at all, and strong once more where others came over the same connection",
		"strong, where queries can't be counted: a socket to a name server waits for seconds, and fewer datagrams came than went",
	},
	Against: []string{
		"decisive: its own answers were quick all the same: no request waits for those calls",
		"decisive, of a resolver: its own answers were quick, and it failed none: another server answers in its stead",
		"decisive: by captures of both ends: the server had the late requests for less than half of their wait",
		"not of answers that are errors: each of its calls was answered, in less than a second",
		"not of connections that wait to be accepted: those that were accepted, or the workers, are mostly idle (connection-limit)",
		"not of the wait in line: all workers are taken by calls that take less than 0.35 s each, and no longer than at other times: more would take what waits (worker-queue)",
		"strong: the path takes that long (the connection's least round trip), or segments were lost on it",
		"trap, of an access log: a request's time ends when its client has all of the answer: slow clients make requests long and upstreams not",
		"not of a listener that only the caller's own parents hold: a part of the same service",
		"can't tell: what the peer does meanwhile, when it is on another host: run snag there",
	},
	LeadsTo: []suspect.Lead{
		{To: "session-lock", Lag: 5 * time.Second},
		{To: "error-answers", Lag: 10 * time.Second},
		{To: "server-stall", Lag: 5 * time.Second},
		{To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.ConnectLatency, Lag: 10 * time.Second}, {To: scene.ThroughputPlateau, Lag: 5 * time.Second}, {To: scene.LogSilence, Lag: 10 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second},
		{To: "listen-overflow", Lag: 10 * time.Second}, {To: "log-silence", Lag: 10 * time.Second}},
	Claims: []ledger.Account{ledger.Call},
	Remedy: suspect.Remedy{
		Permanently: "See what the peer waits for. For DNS: a resolver on this host, options timeout:1 attempts:2 in /etc/resolv.conf.",
		Program:     "A timeout and a limit on calls under way. Answers kept in a cache.",
	},
	Verified:    "its calls take what they took before",
	Next:        "ss -tnpo; snag find on the peer's host",
	WeighBooked: weighSlowDependency,
}

func weighSlowDependency(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) []suspect.Finding {
	var out []suspect.Finding
	idle := haveIdleConnections(s, r, l)
	for _, p := range poolsOf(s, r) {
		local := false
		all := dependenciesOf(p, r, s.Window)
		for i, d := range all {
			if i == mostAsked {
				break
			}
			d.others = slowOthers(all, d)
			if recording.Port(d.remote) == "53" {
				continue // weighed by its datagrams, below
			}
			if ownHelper(s, p, d) {
				continue // inside of one service, which is late itself
			}
			if f, ok := d.finding(s, r, l); ok {
				free := slices.ContainsFunc(idle, func(q *scene.Process) bool { return p.worker(q.Subject.PID) != nil })
				few := fewWorkers(p, d, r, s.Window, l)
				if free || few { // who would accept does not wait for it, or another could
					f.NotTo = []string{scene.ConnectLatency, "listen-overflow"}
				}
				if d.answersAll() {
					f.NotTo = append(f.NotTo, "error-answers")
				}
				if d.socket != nil && d.socket.Peer != nil && waitTogether(s, r, d.socket.Peer.Listener) {
					f.NotTo = append(f.NotTo, "session-lock") // which is there, and why it takes long
				}
				if few {
					f.Part = 1
					for _, w := range p.workers {
						f.Part = min(f.Part, max(leastOwn, l.Own(w.Subject.PID, d.remote)))
					}
				}
				out = append(out, f)
				local = local || recording.IsUnix(d.remote)
			}
		}
		if f, ok := slowNames(p, s, r); ok {
			out = append(out, f)
		}
		if l := localPeerOf(p, r); l != nil && !local {
			if f, ok := l.finding(s, r); ok {
				out = append(out, f)
			}
		}
	}
	out = append(out, neverAnswered(s, l)...)
	out = append(out, silentInCapture(s, r)...)
	for _, l := range measure.LateOnBothSides(r) {
		if f := l.ByTheServer(r); len(f.Evidence) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// mostAsked: what matters is among those that cost a process most. A balancer may have several that are slow.
const mostAsked = 6

// slowOthers is for how long calls to the other peers lasted that take long as well.
func slowOthers(all []*dependency, d *dependency) (sum float64) {
	for _, o := range all[:min(len(all), mostAsked)] {
		if o != d && o.mean() >= longCall {
			sum += o.calls.Sum
		}
	}
	return sum
}

// partOfSlow: of several peers that are slow each has a part in it that is no odd call.
const partOfSlow = 0.1

// mostlyWaits is the share of its answers' time from which a service is late for the sake of
// one that it calls; a call that takes stalls times as long as most do is no usual one.
const (
	mostlyWaits = 0.4
	stalls      = 10
)

// leastOwn stands for none of a delay in a finding's Part.
const leastOwn = 0.01

// agreeing: two times of the same calls, one measured at each end of a process.
const agreeing = 0.35

func (d *dependency) finding(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) (suspect.Finding, bool) {
	if recording.StandsIn(d.process.head.Subject.PID) {
		return d.logged(s, r)
	}
	slow := d.mean() >= longCall || d.worst >= 1 && d.calls.N == 0
	held := d.waited >= 3 && 2*d.waited >= d.looks
	sum, mean, answers := tookInside(r, d.process, s.Window)
	suffers := d.process.suffers(s)
	late := answers > 0 && mean >= 0.5*longCall || answers == 0 && suffers
	waits := 0.0
	for _, w := range d.process.workers {
		waits = max(waits, l.Waits(w.Subject.PID, d.remote))
	}
	// Calls that are short, but for a few: those held up all the rest.
	met := d.waitedIn(r)
	booked := waits >= mostlyWaits && suffers && d.worst >= longCall && (d.worst >= stalls*d.mean() || met >= longCall && met >= unevenCalls*d.mean())
	calls := l.CallsTo(d.netns, d.remote)
	slower := calls.Slower() && l.Booked(d.process.workers[0].Subject.PID, ledger.Call) >= mostlyWaits
	objective, beyond := l.Beyond(d.process.workers[0].Subject.PID, ledger.Call)
	tooLong := beyond >= mostlyWaits && waits >= mostlyWaits
	step, stepped := slowWhile(d.process, s, r)
	stepped = stepped && !slow && step.to(d, r)
	slow, late = slow || booked || slower || tooLong || stepped, late || booked || slower || tooLong || stepped
	if !slow || d.calls.N+d.calls.Open == 0 && !held {
		return suspect.Finding{}, false
	}
	if answers == 0 && !suffers {
		return suspect.Finding{}, false // a client, a nightly job: nobody was seen to wait for it
	}
	f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindPeer, Netns: d.netns, Remote: d.remote}, Active: d.active, Related: append([]recording.Subject{d.process.head.Subject}, d.process.related()...)}
	name := cmp.Or(d.port(), "a service")
	f.Text = fmt.Sprintf("%s waits for %s at %s: %s per call on average, %s at the longest", d.process.named(), name, d.remote, units.Lasting(d.mean()), units.Lasting(d.worst))
	if stepped {
		f.Text = fmt.Sprintf("%s waits for %s at %s, which takes %s of each answer instead of %s", d.process.named(), name, d.remote, units.Short(step.calls.slow), units.Short(step.calls.usual))
	}
	if d.socket != nil {
		f.Subject = d.socket.Subject
		for _, p := range d.socket.Owners {
			if d.process.worker(p.Subject.PID) != nil {
				f.Subject.PID, f.Subject.Comm = p.Subject.PID, p.Subject.Comm
			}
		}
		if d.socket.Peer != nil {
			f.Related = append(f.Related, d.socket.Peer.Subject)
			if p := d.socket.Peer.Owner(); p != nil {
				f.Related = append(f.Related, p.Subject)
				f.Text += fmt.Sprintf(" (it is %s)", p.Subject.Name)
			}
		}
	}
	least := longCall
	if stepped {
		least = 0
		f.Active = step.active
	}
	if behind, sum := d.behind(s, r, least); behind != "" {
		f.Text = fmt.Sprintf("what it waits for at %s is at %s", d.remote, behind)
		f.Evidence = []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: sum, Unit: "s", Source: d.process.turnsSource(), Origin: "calls",
			Text: fmt.Sprintf("its calls to %s took %s in all, and %s of that is the wait for %s there: see that one", d.remote, units.Lasting(d.calls.Sum), units.Lasting(sum), behind)}}
		return f, true
	}
	took := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: d.mean(), Unit: "s", Source: d.process.turnsSource(), Origin: "calls",
		Text: fmt.Sprintf("its %s to %s took %s on average, %s at the longest", units.Plural(int(d.calls.N), "call"), d.remote, units.Lasting(d.mean()), units.Lasting(d.worst))}
	if d.calls.N == 0 {
		took.Text = fmt.Sprintf("%s to %s had no answer for up to %s", units.Plural(int(d.calls.Open), "call"), d.remote, units.Lasting(d.worst))
	}
	if answers > 0 {
		took.Text += fmt.Sprintf("; its own %s answers took %s inside", units.Count(float64(answers)), units.Lasting(mean))
		if d.calls.Sum >= (1-agreeing)*sum && d.calls.Sum <= (1+agreeing)*sum && late {
			took.Grade = suspect.Decisive
			took.Text += fmt.Sprintf(": %s in all of each", units.Lasting(sum))
		} else if slow := d.calls.Sum + d.others; d.mean() >= longCall && late && d.calls.Sum >= partOfSlow*slow && slow >= (1-agreeing)*sum && slow <= (1+agreeing)*sum {
			took.Grade = suspect.Decisive
			took.Text += fmt.Sprintf(": with its calls to others that take long as well, %s of their %s in all", units.Lasting(slow), units.Lasting(sum))
		}
	}
	f.Evidence = append(f.Evidence, took)
	if stepped {
		f.Evidence = append(f.Evidence, step.evidence("what each needs of "+d.remote, d.process.turnsSource()))
	}
	if slower {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: calls.Mean, Unit: "s", Source: d.process.turnsSource().And(source.Of("the baseline")), Origin: "baseline",
			Text: fmt.Sprintf("a call takes %s, in the baseline it took %s", units.Lasting(calls.Mean), units.Lasting(calls.Usual.Mean))})
	}
	if tooLong {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: beyond, Unit: "share", Source: source.Of("--slo").And(d.process.turnsSource()), Origin: "objective",
			Text: fmt.Sprintf("its answers may take %s: of what they take beyond that, %.0f %% is waiting for others", units.Lasting(objective), 100*beyond)})
	}
	if waits >= mostlyWaits && suffers {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: waits, Unit: "share", Source: source.ThreadState.And(source.AllTurns), Origin: "ledger",
			Text: fmt.Sprintf("%.0f %% of the time of its own answers was waiting for %s, or in the queue behind a request that does", 100*waits, d.remote)})
	}
	if d.looks > 0 && d.waited > 0 {
		looks, share := measure.ShareOf(d.waited, d.looks)
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: share, Unit: "share", Source: d.process.source(), Origin: "threads' calls",
			Text: fmt.Sprintf("in %s samples up to %s of it waited in a read from there", looks, units.Plural(d.waiters, "thread"))}
		if held {
			e.Grade = suspect.Strong
		}
		f.Evidence = append(f.Evidence, e)
	}
	if e, ok := d.offCPU(r); ok {
		f.Evidence = append(f.Evidence, e)
	}
	if answers > 0 && !late {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: mean, Unit: "s", Source: d.process.turnsSource(), Origin: "turns",
			Text: fmt.Sprintf("its own answers took %s all the same: no request waits for those calls", units.Lasting(mean))})
	}
	if e, ok := d.pathEvidence(); ok {
		f.Evidence = append(f.Evidence, e)
	}
	if answers > 0 && late {
		f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: min(d.mean(), mean), Unit: "s", Text: fmt.Sprintf("%s of each answer's %s is the wait for %s", units.Lasting(min(d.mean(), mean)), units.Lasting(mean), d.remote)}
	}
	if stepped {
		f.Harm = step.harm(d.remote)
	}
	if recording.IsUnix(d.remote) {
		f.Remedy = quickerCalls(d.remote, d.process.head.Subject.Comm, d.mean())
		f.Next = fmt.Sprintf("ss -lxp 'src %s'   # which process it is; snag find --pid PID", recording.Port(d.remote))
		return f, true
	}
	host := recording.Host(d.remote)
	timeout := d.mean()
	if timeout < longCall {
		timeout = d.worst
	}
	f.Remedy = quickerCalls(fmt.Sprintf("%s (snag find on %s)", d.remote, host), d.process.head.Subject.Comm, timeout)
	f.Next = fmt.Sprintf("snag find --port %s   # on %s; here: ss -tnpoi dst %s", recording.Port(d.remote), host, host)
	return f, true
}

// ownHelper reports that a process asks at its own listener, or at one which only those hold who
// started it: a part of its own service, that is started for it or is another's of its kind.
func ownHelper(s *scene.Scene, p *pool, d *dependency) bool {
	l := s.Callee(recording.Turns{Netns: d.netns, Remote: d.remote})
	if l == nil || len(l.Owners) == 0 {
		return false
	}
	above := map[int]bool{p.head.Subject.PID: true}
	for q := s.Process(p.head.Subject.PID); q != nil && !above[q.First().PPID] && q.First().PPID > 1; q = s.Process(q.First().PPID) {
		above[q.First().PPID] = true
	}
	return !slices.ContainsFunc(l.Owners, func(o *scene.Process) bool { return !above[o.Subject.PID] })
}

// behind is whom the peer, where it is on this host, waits for itself during most of the
// calls to it, in calls that are long too.
func (d *dependency) behind(s *scene.Scene, r *recording.Recording, long float64) (remote string, sum float64) {
	l := s.Callee(recording.Turns{Netns: d.netns, Remote: d.remote})
	if l == nil || d.calls.Sum == 0 {
		return "", 0
	}
	by, calls := map[string]float64{}, map[string]uint64{}
	for _, t := range r.Turns {
		if t.Role == "call" && t.Remote != d.remote && slices.ContainsFunc(l.Owners, func(p *scene.Process) bool { return p.Subject.PID == t.PID }) {
			calls[t.Remote] += t.N
			if by[t.Remote] += t.Sum; by[t.Remote] > sum {
				remote, sum = t.Remote, by[t.Remote]
			}
		}
	}
	if sum < (1-agreeing)*d.calls.Sum || sum < long*float64(calls[remote]) {
		return "", 0
	}
	return remote, sum
}

// pathEvidence reports whether the way there explains the time.
func (d *dependency) pathEvidence() (suspect.Evidence, bool) {
	rtt, again, known := d.path()
	e := suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: rtt, Unit: "s", Source: source.SS("-ti", source.MinRTT, source.Retrans).With(source.RTT), Origin: "path"}
	switch {
	case !known:
		return e, false
	case rtt >= 0.5*d.mean():
		e.Text = fmt.Sprintf("the path alone takes %s there and back", units.Lasting(rtt))
	case again >= 3 && float64(again) >= 0.2*float64(d.calls.N):
		e.Text = fmt.Sprintf("%d segments to it had to be sent again: the path", again)
	default:
		e.Side, e.Grade = suspect.For, suspect.Weak
		e.Text = fmt.Sprintf("the path there and back takes %s: it is the peer that takes long", units.Lasting(rtt))
	}
	return e, true
}
