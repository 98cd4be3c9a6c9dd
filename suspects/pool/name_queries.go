package pool

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// nameServer is what a process asked one name server in the window.
type nameServer struct {
	process *pool
	server  string // address:port
	netns   uint64
	recording.Queries
	active []recording.Interval
	others []*nameServer  // the servers that it asked besides
	open   float64        // for how long nothing had been answered when the window ended, s
	at     recording.Time // of the last row: Open and Oldest are of that second
}

// queriesOf are the name servers that a process asked, that first which cost it most.
func queriesOf(p *pool, r *recording.Recording) []*nameServer {
	by := map[string]*nameServer{}
	var out []*nameServer
	for _, row := range r.Queries {
		if p.worker(row.PID) == nil {
			continue
		}
		a := by[row.Remote]
		if a == nil {
			a = &nameServer{process: p, server: row.Remote, netns: row.Netns}
			a.T = row.T
			by[row.Remote] = a
			out = append(out, a)
		}
		a.add(row)
	}
	sort.Slice(out, func(i, j int) bool {
		if a, b := out[i].GaveUpSum+out[i].Sum, out[j].GaveUpSum+out[j].Sum; a != b {
			return a > b
		}
		return out[i].server < out[j].server
	})
	for _, a := range out {
		if a.Answered == 0 && a.GaveUp == 0 && a.Unknown == 0 && a.Measured == 0 {
			a.open = r.Manifest.End.Sub(a.T).Seconds()
		}
		for _, b := range out {
			if a != b {
				a.others = append(a.others, b)
			}
		}
		a.active = intervals.Merge(a.active, measure.Joined)
	}
	return out
}

func (a *nameServer) add(row recording.Queries) {
	a.Asked += row.Asked
	a.Answered += row.Answered
	a.Sum += row.Sum
	a.Max = max(a.Max, row.Max)
	a.Measured += row.Measured
	a.Unknown += row.Unknown
	if a.Failed += row.Failed; row.Failed > 0 {
		a.FailedAs = row.FailedAs
	}
	if row.T != a.at {
		a.at, a.Open, a.Oldest = row.T, 0, 0
	}
	a.Open += row.Open
	a.Oldest = max(a.Oldest, row.Oldest)
	if row.GaveUp > 0 {
		if a.GaveUp == 0 || row.GaveUpMin < a.GaveUpMin {
			a.GaveUpMin = row.GaveUpMin
		}
		a.active = append(a.active, recording.Interval{Start: row.T.Add(-measure.Duration(row.GaveUpMax)), End: row.T.Add(measure.Duration(1))})
	} else if row.Answered > 0 && row.Sum/float64(row.Answered) >= longCall {
		a.active = append(a.active, measure.OneSecond(row.T))
	} else if row.Oldest >= stillOpen {
		a.active = append(a.active, recording.Interval{Start: row.T.Add(measure.Duration(1 - row.Oldest)), End: row.T.Add(measure.Duration(1))})
	}
	a.GaveUp += row.GaveUp
	a.GaveUpSum += row.GaveUpSum
	a.GaveUpMax = max(a.GaveUpMax, row.GaveUpMax)
}

// known is of how many queries it is known whether they were answered.
func (a *nameServer) known() float64 { return float64(a.Asked) - float64(a.Unknown) }

// missing is how many of them had no answer; those that are under way have one to come.
func (a *nameServer) missing() float64 {
	n := a.known() - float64(a.Answered)
	if a.Oldest < stillOpen {
		n -= float64(a.Open)
	}
	return max(0, n)
}

// stillOpen is how long a query is open that counts as one without an answer so far.
const stillOpen = 1 // s

// silent reports that queries were given up, or none was answered: the server does not
// answer. One that answers late is slow, which is another trouble and another cure. Of
// queries that were seen in slices of the time only, an answer may have come after one.
func (a *nameServer) silent() bool {
	return a.GaveUp > 0 || a.Answered == 0 && a.known() >= fewQueries && a.Measured == 0 || a.open >= longOpen
}

// longOpen is how long one query without an answer is one too many: a resolver far away answers in
// a tenth of that.
const longOpen = 3 // s

// fewQueries without an answer may be those of the last moment.
const fewQueries = 4

// wait is how long a query costs on average, s; 0 where that can't be told: of a server
// that is silent, when an event loop asks for many names at a time.
func (a *nameServer) wait() float64 {
	switch {
	case a.open >= longOpen:
		return a.open
	case a.silent():
		return a.GaveUpSum / float64(max(a.GaveUp, 1))
	}
	return a.Sum / float64(max(a.Answered, 1))
}

// together is how long all of them cost, s. The A and the AAAA query of one name are
// waited for at the same time, so that answers may be counted twice.
func (a *nameServer) together() float64 {
	if a.silent() {
		return a.GaveUpSum
	}
	return a.Sum
}

// askedNames is the process whose queries to a name server are not answered, or late.
func askedNames(p *pool, s *scene.Scene, r *recording.Recording) (suspect.Finding, bool) {
	all := queriesOf(p, r)
	a := worstServer(all)
	if a == nil {
		return namesInStep(p, all, s, r)
	}
	sum, mean, answers := tookInside(r, p, s.Window)
	turns := p.turns(r, "serve", "", []recording.Interval{s.Window})
	open := turns.Oldest
	suffers := p.suffers(s)
	// A few names that are given up hold up few answers, and these take most of the time of all.
	late := answers > 0 && (mean >= 0.5*longCall || a.GaveUpSum >= mostlyWaits*sum) || open >= max(a.wait(), longCall)
	if answers == 0 && open < 1 && !suffers {
		return suspect.Finding{}, false // nobody was seen to wait for it
	}
	f := suspect.Finding{Subject: a.subject(), Active: a.active, Related: slices.Concat([]recording.Subject{p.head.Subject}, p.related(), a.related(s))}
	whose := a.whose(s)
	queries := a.evidence(r)
	if answers > 0 && late {
		queries.Text += fmt.Sprintf("; its own %s answers took %s inside", units.Count(float64(answers)), units.Lasting(mean))
		// Two counters that know nothing of each other give the same time.
		if a.wait() > 0 && (agrees(a.together(), sum) || agrees(a.wait(), mean) && a.lookups() >= float64(answers)*(1-agreeing)) {
			queries.Grade = suspect.Decisive
			queries.Text += ": the same"
		} else if a.GaveUp > 0 && agrees(a.wait(), turns.Max) {
			queries.Grade = suspect.Decisive
			queries.Text += fmt.Sprintf(" on average, %s at the longest: the same", units.Hundredths(turns.Max))
		}
	}
	if a.open >= longOpen && agrees(a.open, open) {
		queries.Grade = suspect.Decisive
		queries.Text += fmt.Sprintf(", and its own request had none for %s", units.Lasting(open))
	}
	f.Evidence = append(f.Evidence, queries)
	f.Evidence = append(f.Evidence, a.beside()...)
	if e, ok := a.polled(r); ok {
		f.Evidence = append(f.Evidence, e)
	}
	if answers > 0 && !late {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: mean, Unit: "s", Source: source.Turns, Origin: "turns",
			Text: fmt.Sprintf("its own answers took %s all the same: no request waits for those names", units.Lasting(mean))})
	}
	host := recording.Host(a.server)
	if a.silent() {
		f.Text = fmt.Sprintf("%s waits for the name server %s%s, which does not answer%s%s", p.named(), host, whose, a.each(), a.then())
		f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("Find out why %s does not answer, or take it out of /etc/resolv.conf. There: options timeout:1 attempts:2, or a resolver on this host that keeps names.", host)}
	} else {
		f.Text = fmt.Sprintf("%s waits for the name server %s%s, which answers, but late: %s a query on average, %s at the longest", p.named(), host, whose, units.Lasting(a.wait()), units.Lasting(a.Max))
		f.Remedy = a.slowRemedy()
	}
	if late && a.wait() > 0 {
		each := a.wait()
		if answers > 0 {
			each = min(each, mean)
		}
		f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: each, Unit: "s", Text: fmt.Sprintf("%s of each answer is the wait for the name server %s", units.Lasting(each), host)}
		if answers > 0 {
			f.Harm.Text = fmt.Sprintf("%s of each answer's %s is the wait for the name server %s", units.Lasting(each), units.Lasting(mean), host)
		}
	}
	f.Next = a.next()
	return f, true
}

func (a *nameServer) subject() recording.Subject {
	p := a.process.head.Subject
	return recording.Subject{Kind: recording.KindPeer, Netns: a.netns, Proto: "udp", Remote: a.server, PID: p.PID, Comm: p.Comm}
}

// related are the server's socket and its process, where they are on this host.
func (a *nameServer) related(s *scene.Scene) (out []recording.Subject) {
	if k := a.here(s); k != nil {
		out = append(out, k.Subject)
		if q := k.Owner(); q != nil {
			out = append(out, q.Subject)
		}
	}
	return out
}

// whose names that process.
func (a *nameServer) whose(s *scene.Scene) string {
	if k := a.here(s); k != nil && k.Owner() != nil {
		return fmt.Sprintf(" (it is %s)", k.Owner().Subject.Name)
	}
	return ""
}

func (a *nameServer) slowRemedy() suspect.Remedy {
	return suspect.Remedy{Permanently: fmt.Sprintf("Find out what holds %s up (its upstream, its load). A resolver on this host that keeps names.", recording.Host(a.server))}
}

func (a *nameServer) next() string {
	host := recording.Host(a.server)
	return fmt.Sprintf("dig @%s . NS +tries=1; tcpdump -ni any host %s and port 53", host, host)
}

// here is the server's own socket where it is on this host: of the same namespace, or of
// another by its address, which is no loopback's then.
func (a *nameServer) here(s *scene.Scene) *scene.Socket {
	return s.Callee(recording.Turns{Netns: a.netns, Remote: a.server, Proto: "udp"})
}

// worstServer is the one that costs most, or that answers nobody; nil where all are well.
func worstServer(all []*nameServer) *nameServer {
	for _, a := range all {
		if a.wait() >= longCall || a.silent() {
			return a
		}
	}
	return nil
}

// agrees reports whether two times of the same thing are the same.
func agrees(a, b float64) bool { return a >= (1-agreeing)*b && a <= (1+agreeing)*b }

// lookups are about how many names were asked for: two queries each, as glibc asks for
// both kinds of address.
func (a *nameServer) lookups() float64 {
	if a.silent() {
		return float64(a.GaveUp)
	}
	return float64(a.Answered) / 2
}

// evidence is the count of the queries and of their answers.
func (a *nameServer) evidence(r *recording.Recording) suspect.Evidence {
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: a.wait(), Unit: "s", Source: source.Lookups, Origin: "queries"}
	if !a.silent() {
		e.Text = fmt.Sprintf("%s of %s queries to %s were answered, after %s on average, %s at the longest", units.Count(float64(a.Answered)), units.Count(float64(a.Asked)), a.server, units.Lasting(a.wait()), units.Lasting(a.Max))
		return e
	}
	e.Text = fmt.Sprintf("%s of %s queries to %s had no answer", units.Count(max(0, a.known()-float64(a.Answered))), units.Count(a.known()), a.server)
	if a.open >= longOpen {
		e.Text += fmt.Sprintf(", for %s when the recording ended", units.Lasting(a.open))
	}
	if a.GaveUp == 0 {
		return e
	}
	e.Text += fmt.Sprintf("; %s it asked again, %s later", units.Times(int(a.GaveUp)), units.Hundredths(a.wait()))
	if timeout, ok := a.timeout(r); ok && a.exactly(timeout) {
		e.Text += fmt.Sprintf(": exactly the timeout of %s s in its /etc/resolv.conf", strconv.FormatFloat(timeout, 'g', 3, 64))
	} else if whole := float64(int(a.wait() + 0.5)); whole >= 1 && a.exactly(whole) {
		e.Text += ": a resolver's timeout, which counts in seconds"
	}
	return e
}

// exactly reports whether all waits were that long, but for what a busy machine adds.
func (a *nameServer) exactly(timeout float64) bool {
	const late = 0.1 // s, that a thread may wait for a CPU
	return a.GaveUpMin >= timeout-0.02 && a.wait() <= 1.02*timeout+late
}

// timeout is what the process' own resolv.conf says, s; false where it was not read.
func (a *nameServer) timeout(r *recording.Recording) (float64, bool) {
	value := ""
	for _, p := range a.process.workers {
		if v, ok := r.FactOf(fmt.Sprintf("resolver.%d", p.Subject.PID), a.netns); ok {
			value = v
		}
	}
	_, rest, ok := strings.Cut(value, "timeout ")
	if !ok {
		return 0, false
	}
	word, _, _ := strings.Cut(rest, " ")
	n, err := strconv.ParseFloat(word, 64)
	return n, err == nil
}

// beside is how the other servers that it asked fared.
func (a *nameServer) beside() []suspect.Evidence {
	var out []suspect.Evidence
	for _, o := range a.others {
		if o.Answered == 0 || o.wait() >= longCall {
			continue
		}
		out = append(out, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: o.wait(), Unit: "s", Source: source.Lookups, Origin: "queries",
			Text: fmt.Sprintf("%s answered %s of its %s queries, after %s: the way and the names are in order", o.server, units.Count(float64(o.Answered)), units.Count(float64(o.Asked)), units.Lasting(o.wait()))})
		break
	}
	return out
}

// each is what that costs a name.
func (a *nameServer) each() string {
	if a.wait() == 0 {
		return ""
	}
	return fmt.Sprintf(": %s for each name", units.Hundredths(a.wait()))
}

// then is whom it asks next.
func (a *nameServer) then() string {
	for _, o := range a.others {
		if o.Answered > 0 && !o.silent() {
			return fmt.Sprintf(", then %s answers", recording.Host(o.server))
		}
	}
	return ""
}

// polls are the calls in which a resolver waits for its answer: glibc in poll, others in
// a read with a timeout.
var polls = map[string]bool{"poll": true, "ppoll": true, "select": true, "pselect6": true, "recvfrom": true, "recvmsg": true, "epoll_wait": true, "epoll_pwait": true}

// polled is how long threads were in such a call, by the scheduler: waits as long as a
// query's.
func (a *nameServer) polled(r *recording.Recording) (suspect.Evidence, bool) {
	wait := a.wait()
	if wait == 0 {
		return suspect.Evidence{}, false
	}
	b := offCPUOf(a.process, r, func(row recording.OffCPU) bool { return polls[row.Call] && agrees(row.Max, wait) })
	if b == nil {
		return a.looked()
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: b.max, Unit: "s", Source: source.OffCPUOf, Origin: "threads' calls",
		Text: fmt.Sprintf("%s of it waited in poll as long as that: %s at the longest", units.Plural(max(len(b.threads), 1), "thread"), units.Hundredths(b.max))}
	if in := measure.OwnFunctions(r, b.stack); in != "" {
		e.Text += ", in " + in
	}
	return e, true
}

// looked is at how many looks a thread was in such a call; an event loop always is.
func (a *nameServer) looked() (suspect.Evidence, bool) {
	n, most := 0, 0
	looks := a.process.looks()
	for _, l := range looks {
		here := 0
		for _, row := range l.Rows {
			if row.Syscall == "poll" || row.Syscall == "ppoll" {
				here++
			}
		}
		most = max(most, here)
		if here > 0 {
			n++
		}
	}
	if n == 0 {
		return suspect.Evidence{}, false
	}
	part, share := measure.ShareOf(n, len(looks))
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: share, Unit: "share", Source: a.process.source(), Origin: "threads' calls",
		Text: fmt.Sprintf("in %s samples up to %s of it waited in poll", part, units.Plural(most, "thread"))}
	if n >= 3 && share >= 0.5 {
		e.Grade = suspect.Strong
	}
	return e, true
}
