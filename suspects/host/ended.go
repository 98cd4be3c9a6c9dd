package host

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"snag/internal/sorting"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
)

// outcome is how a process ended.
type outcome int

const (
	endedWell   outcome = iota // by itself, with status 0
	endedAsked                 // by a signal that asks it to, or after one
	endedFailed                // by itself, with another status
	endedKilled                // by a signal that leaves it no choice: it was killed, or crashed
	endedBereft                // by SIGPIPE: whoever it wrote to ended before it
)

// askingSignals are sent to services that are to end, and their numbers.
var askingSignals = map[string]int{"SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGTERM": 15}

// sentBefore is how long before its end a process was sent the signal that it ended by: a
// handler may have to finish what it does.
const sentBefore = 10 * time.Second

// outcomeOf reports how a process ended that was sent a signal before, or none.
func outcomeOf(e recording.Exit, signal recording.Event) outcome {
	sent, from := signal.Attrs["signal"], sender(signal)
	switch {
	case e.Signal == "SIGPIPE":
		return endedBereft
	case askingSignals[e.Signal] > 0:
		return endedAsked
	case e.Signal != "":
		return endedKilled
	case askingSignals[sent] > 0:
		return endedAsked
	case e.Status == 0:
		return endedWell
	case from != 0 && from != e.PID: // as gunicorn's workers, which end with a status after SIGABRT
		return endedKilled
	}
	for _, n := range askingSignals {
		if e.Status == 128+n {
			return endedAsked
		}
	}
	return endedFailed
}

// endingSignals are the signals that processes were sent and may have ended by, by pid.
func endingSignals(r *recording.Recording) map[int][]recording.Event {
	out := map[int][]recording.Event{}
	for _, s := range r.Events {
		name := s.Attrs["signal"]
		if s.Kind == recording.EventSignal && s.Subject.PID != 0 && s.Attrs["result"] != "ignored" && !recording.StopSignals[name] && name != "SIGCONT" && name != "SIGPIPE" {
			out[s.Subject.PID] = append(out[s.Subject.PID], s)
		}
	}
	return out
}

// ending is the signal that a process ended by or after; the zero Event is none.
func ending(sent map[int][]recording.Event, x recording.Exit) (last recording.Event) {
	for _, s := range sent[x.PID] {
		if s.T <= x.T.Add(time.Millisecond) && s.T >= x.T.Add(-sentBefore) && (x.Signal == "" || s.Attrs["signal"] == x.Signal) {
			last = s
		}
	}
	return last
}

// post is where a process served: a port that it listened on or received at, or somebody
// whom it sent a stream.
type post struct {
	netns uint64
	proto string // tcp, udp; feed: it sends
	at    string // port; of a feed the address
}

// ended is what became of the processes that served at one post.
type ended struct {
	post
	exits   [endedBereft + 1][]recording.Exit // by outcome
	sockets []*scene.Socket                   // that were there to be served, by when they were first seen
	opened  []recording.Time                  // connections of a feed
	sent    map[int][]recording.Event
	workers int // that held the socket at once, their parent aside
}

func (e *ended) n(o outcome) (n int) {
	for _, x := range e.exits[o] {
		n += int(x.N)
	}
	return n
}

// asked are the streams that it sent and that were asked for.
func (e *ended) asked(s *scene.Scene) (out []*scene.Stream) {
	if e.proto != "feed" {
		return nil
	}
	for _, st := range s.Streams {
		if slices.ContainsFunc(st.Way, func(l scene.Link) bool { return l.From != nil && slices.Contains(e.sockets, l.From) }) {
			out = append(out, st)
		}
	}
	return out
}

// leftBehind is how long after its receiver somebody who sends a stream may notice that it has ended.
const leftBehind = 5 * time.Second

// bereft reports that it sent to a service that ended before it did: that one explains both.
func (e *ended) bereft(s *scene.Scene, all []*ended) bool {
	if o := e.last(); e.proto != "feed" || o == endedKilled || o == endedAsked {
		return false
	}
	x := e.exits[e.last()]
	at := x[len(x)-1].T
	return slices.ContainsFunc(all, func(to *ended) bool {
		return to.proto == "tcp" && to.at == recording.Port(e.at) && to.answersAt(s, e.netns, e.at) && slices.ContainsFunc(slices.Concat(to.exits[:]...), func(y recording.Exit) bool {
			return y.T <= at && y.T >= at.Add(-leftBehind)
		})
	})
}

// feedsAsked reports whether there are any.
func (e *ended) feedsAsked(s *scene.Scene) bool { return len(e.asked(s)) > 0 }

// last is how the process ended that ended last.
func (e *ended) last() (o outcome) {
	var at recording.Time
	for k, exits := range e.exits {
		for _, x := range exits {
			if x.T >= at {
				at, o = x.T, outcome(k)
			}
		}
	}
	return o
}

// endedServices are those whose processes ended, by post.
func endedServices(s *scene.Scene, r *recording.Recording) (out []*ended) {
	type family struct {
		ppid int
		comm string
	}
	serve, answered := servers(r, s), answerers(r)
	own, known, feeds := map[int]post{}, map[family]map[post]bool{}, feeds(s, r)
	for _, x := range r.Exits {
		at, ok := postOf(s, serve, x)
		if !ok {
			at, ok = answered[x.PID]
		}
		if !ok {
			at, ok = feeds[x.PID]
		}
		if ok {
			own[x.PID] = at
			f := family{x.PPID, x.Comm}
			if known[f] == nil {
				known[f] = map[post]bool{}
			}
			known[f][at] = true
		}
	}
	by, sent := map[post]*ended{}, endingSignals(r)
	for _, x := range r.Exits {
		at, ok := own[x.PID]
		if f := known[family{x.PPID, x.Comm}]; !ok && len(f) == 1 { // one that ended before anybody looked
			for at = range f {
				ok = true
			}
		}
		if p := s.Process(x.PPID); !ok && p != nil && p.Subject.Comm == x.Comm { // a worker, of a parent that listens
			at, ok = postOf(s, serve, recording.Exit{PID: x.PPID, Comm: x.Comm, T: x.T})
		}
		if !ok || x.PID == r.Manifest.SelfPID && x.PID != 0 {
			continue
		}
		e := by[at]
		if e == nil {
			e = &ended{post: at, sent: sent}
			e.findSockets(s, r, x)
			by[at] = e
			out = append(out, e)
		}
		o := outcomeOf(x, ending(sent, x))
		e.exits[o] = append(e.exits[o], x)
	}
	return out
}

// servers are the names of the processes that answer at a port: what else holds its
// listening socket was started by one of them and serves nobody.
func servers(r *recording.Recording, s *scene.Scene) map[post][]string {
	out := map[post][]string{}
	add := func(netns uint64, local, comm string) {
		at := post{netns, "tcp", recording.Port(local)}
		if comm != "" && !slices.Contains(out[at], comm) {
			out[at] = append(out[at], comm)
		}
	}
	for _, t := range r.Turns {
		if t.Role == "serve" {
			add(t.Netns, t.Local, t.Comm)
		}
	}
	for _, k := range s.Sockets {
		if p := k.Owner(); p != nil && k.First().Proto == "tcp" && (k.Listening() || k.Listener != nil) {
			add(k.First().Netns, k.First().Local, p.Subject.Comm)
		}
	}
	return out
}

// answerers are the processes that answered requests at a port, by pid: one that ends again and
// again within a second has no socket when somebody looks at them.
func answerers(r *recording.Recording) map[int]post {
	out := map[int]post{}
	for _, t := range r.Turns {
		if t.Role == "serve" && t.PID > 0 && t.N > 0 && t.Proto == "" && !recording.IsUnix(t.Local) {
			out[t.PID] = post{t.Netns, "tcp", recording.Port(t.Local)}
		}
	}
	return out
}

// fedBytes and fedFor are what a stream is at the least: 32 kbit/s for a second, nearly all
// of it one way.
const (
	fedBytes = 4000
	fedFor   = 1.0
)

// feeds are those who sent a stream to somebody until their connection ended, by pid. Of a stream
// that was asked for its way tells, also where the connection is older than the recording.
func feeds(s *scene.Scene, r *recording.Recording) map[int]post {
	out := map[int]post{}
	for _, st := range s.Streams {
		for _, l := range st.Way {
			if k := l.From; k != nil && k.Listener == nil && k.Owner() != nil {
				out[k.Owner().Subject.PID] = post{k.First().Netns, "feed", k.First().Remote}
			}
		}
	}
	for _, c := range r.Connections {
		if c.Role != "connect" || c.Closed == 0 || c.Lifetime < fedFor || float64(c.BytesOut) < fedBytes*c.Lifetime || c.BytesOut <= 10*c.BytesIn {
			continue
		}
		if c.PID == 0 { // it is older than the recording
			c.PID = onlyCaller(s, c)
		}
		if c.PID != 0 {
			out[c.PID] = post{c.Netns, "feed", c.Remote}
		}
	}
	return out
}

// onlyCaller is the process that had a connection from there to there before the second in which one ended; 0 where
// none or several had.
func onlyCaller(s *scene.Scene, c recording.Connections) (pid int) {
	for _, k := range s.Sockets {
		f := k.First()
		if k.Listener != nil || f.T > c.T || f.Netns != c.Netns || f.Remote != c.Remote || recording.Host(f.Local) != c.Local {
			continue
		}
		for _, p := range k.Owners {
			if pid != 0 && p.Subject.PID != pid {
				return 0
			}
			pid = p.Subject.PID
		}
	}
	return pid
}

func postOf(s *scene.Scene, serve map[post][]string, x recording.Exit) (at post, ok bool) {
	p := s.Process(x.PID)
	if x.PID == 0 || p == nil {
		return at, false
	}
	for _, k := range p.Sockets {
		f := k.First()
		tcp := post{f.Netns, "tcp", recording.Port(f.Local)}
		switch {
		case f.Proto == "tcp" && (k.Listening() || k.Listener != nil):
			if slices.Contains(serve[tcp], x.Comm) {
				return tcp, true
			}
		case f.Proto == "udp" && f.Remote == "" && !ok:
			at, ok = post{f.Netns, "udp", recording.Port(f.Local)}, true
		}
	}
	return at, ok
}

// findSockets are those that take what comes to the place; of a feed those that send it.
func (e *ended) findSockets(s *scene.Scene, r *recording.Recording, x recording.Exit) {
	for _, c := range r.Connections {
		if e.proto == "feed" && c.Role == "connect" && c.Netns == e.netns && c.Remote == e.at && c.Comm == x.Comm && c.Opened > 0 {
			e.opened = append(e.opened, c.T)
		}
	}
	for _, k := range s.Sockets {
		f := k.First()
		mine := f.Netns == e.netns && f.Proto == e.proto && recording.Port(f.Local) == e.at && f.Remote == "" && (e.proto == "udp" || k.Listening())
		if e.proto == "feed" {
			mine = f.Netns == e.netns && f.Proto == "tcp" && f.Remote == e.at && k.Owner() != nil && k.Owner().Subject.Comm == x.Comm
		}
		if !mine {
			continue
		}
		e.sockets = append(e.sockets, k)
		for _, row := range k.Rows {
			n := 0
			for _, o := range row.Owners {
				if o.PID != x.PPID && o.Comm == x.Comm {
					n++
				}
			}
			e.workers = max(e.workers, n)
		}
	}
	sorting.StableBy(e.sockets, func(a, b *scene.Socket) int { return cmp.Compare(a.First().T, b.First().T) })
}

// away is how long nobody served after an end, as far as looks at the sockets tell; ok is
// false where another went on at once.
func (e *ended) away(x recording.Exit, window recording.Interval) (recording.Interval, bool) {
	until := window.End
	for _, t := range e.opened {
		if t > x.T {
			until = min(until, t)
		}
	}
	for _, k := range e.sockets {
		if f := k.First().T; f > x.T {
			until = min(until, f)
		} else if e.proto != "feed" && k.Last().T > x.T {
			return recording.Interval{Start: x.T, End: x.T}, false
		}
	}
	return recording.Interval{Start: x.T, End: until}, until > x.T
}

// awayBefore is when nobody sent the stream before the first end that was seen: the one who sent it
// until then ended as the recording began, before ends were counted.
func (e *ended) awayBefore(first recording.Exit) (recording.Interval, bool) {
	if e.proto != "feed" || len(e.sockets) < 2 {
		return recording.Interval{}, false
	}
	was, next := e.sockets[0].Last().T, e.sockets[1].First().T
	for _, t := range e.opened {
		if t > was {
			next = min(next, t)
		}
	}
	return recording.Interval{Start: was, End: next}, next.Sub(was) >= time.Second && next <= first.T
}

// serves is the service at the place, or nil.
func (e *ended) serves(s *scene.Scene, r *recording.Recording) *scene.Service {
	for _, v := range scene.Services(s, r, "serve") {
		if v.Subject.Netns == e.netns && e.proto == "tcp" && recording.Port(v.Subject.Local) == e.at {
			return v
		}
	}
	return nil
}

// openEach is how many requests a worker has open on average.
func (e *ended) openEach(s *scene.Scene, r *recording.Recording) (n float64) {
	v := e.serves(s, r)
	if v == nil {
		return 0
	}
	for _, row := range v.Rows {
		n += float64(row.Open)
	}
	return n / float64(len(v.Rows)*max(1, e.workers))
}

// busy is the share of the workers' time that went into answers; 1 where that is not known.
func (e *ended) busy(s *scene.Scene, r *recording.Recording) float64 {
	v := e.serves(s, r)
	if v == nil || e.workers == 0 || r.ShareOf("sockets.turns") < 1 {
		return 1
	}
	sum := 0.0
	for _, row := range v.Rows {
		sum += row.Sum - row.Wait
	}
	return sum / (float64(e.workers) * r.Length().Seconds())
}

// inHand is how many requests a process had in hand when it ended: the connections that it
// had accepted, by the last look at them, and not less than each has open on average.
func inHand(s *scene.Scene, x recording.Exit, n float64) float64 {
	p := s.Process(x.PID)
	if x.PID == 0 || p == nil {
		return n * float64(x.N)
	}
	const look, lately = 100 * time.Millisecond, 2500 * time.Millisecond
	var last recording.Time
	var rows []recording.Socket
	for _, k := range p.Sockets {
		for _, row := range k.Rows {
			if k.Listener != nil && row.State == "ESTABLISHED" && row.T <= x.T && row.T > x.T.Add(-lately) {
				last = max(last, row.T)
				rows = append(rows, row)
			}
		}
	}
	seen := 0.0
	for _, row := range rows {
		if row.T > last.Add(-look) {
			seen++
		}
	}
	return max(n, seen)
}

// outlives is how much longer than its connection a process may live that is there for that one.
const outlives = 2

// sessions reports that the processes that ended were there for one connection each, as those of a
// server that forks for each are: each ends in its own way.
func (e *ended) sessions(r *recording.Recording) bool {
	closed, lived := 0.0, 0.0
	for _, row := range r.Connections {
		if row.Role == "accept" && row.Netns == e.netns && recording.Port(row.Local) == e.at {
			closed, lived = closed+float64(row.Closed), lived+row.Lifetime
		}
	}
	n, age := 0.0, 0.0
	for _, exits := range e.exits {
		for _, x := range exits {
			n, age = n+float64(x.N), age+x.Age*float64(x.N)
		}
	}
	return closed > 0 && n >= 0.5*closed && age*closed <= outlives*lived*n
}

// cut is how many requests ended without an answer, as the service saw it: a client's last word
// before it leaves is a request in its own eyes alone.
func (e *ended) cut(r *recording.Recording) (n float64) {
	for _, row := range r.Turns {
		if row.Role == string(ledger.Serves) && row.Netns == e.netns && recording.Port(row.Local) == e.at {
			n += float64(row.Cut)
		}
	}
	return n
}

// tooLate is how long after its end clients may still ask on connections that a process had: they
// keep them open between two requests.
const tooLate = 5 * time.Second

// askedTooLate are the requests that clients wrote to connections which a process had when it
// ended: its kernel had closed them, and answers with a reset.
func (e *ended) askedTooLate(s *scene.Scene, r *recording.Recording, exits []recording.Exit) float64 {
	got, sent := 0.0, 0.0
	for _, row := range r.Resets {
		if !slices.ContainsFunc(exits, func(x recording.Exit) bool { return row.T > x.T.Add(-time.Second) && row.T < x.T.Add(tooLate) }) {
			continue
		}
		switch {
		case row.Dir == "received" && row.State == "CLOSE_WAIT" && recording.Port(row.Remote) == e.at && e.answersAt(s, row.Netns, row.Remote):
			got += float64(row.N)
		case row.Dir == "sent" && row.State == "TIME_WAIT" && row.Netns == e.netns && recording.Port(row.Local) == e.at:
			sent += float64(row.N)
		}
	}
	return max(got, sent)
}

// refused is how often somebody was told that nobody listens there, and who asked.
func (e *ended) refused(s *scene.Scene, r *recording.Recording, away []recording.Interval) (n float64, who []recording.Subject) {
	for _, c := range scene.Refusals(r) {
		if recording.Port(c.Remote) != e.at || !c.Missed() || !e.answersAt(s, c.Netns, c.Remote) {
			continue
		}
		for _, row := range c.Rows {
			if intervals.Cover(away, row.T) || intervals.Cover(away, row.T.Add(time.Second)) {
				n += float64(row.Failed)
			}
		}
		who = append(who, c.Caller(s), recording.Subject{Kind: recording.KindPeer, Netns: c.Netns, Proto: "tcp", Remote: c.Remote, PID: c.PID})
	}
	sent := 0.0 // to callers of other hosts
	for _, row := range r.Resets {
		if row.Dir == "sent" && row.Netns == e.netns && recording.Port(row.Local) == e.at && (row.Reason == "NO_SOCKET" || row.Reason == "" && row.State == "") && (intervals.Cover(away, row.T) || intervals.Cover(away, row.T.Add(time.Second))) {
			sent += float64(row.N)
		}
	}
	return max(n, sent), who[:min(len(who), measure.MostRelated)]
}

// answersAt reports whether the place is what somebody asked for: its own namespace's, or an
// address that one of its sockets has.
func (e *ended) answersAt(s *scene.Scene, netns uint64, remote string) bool {
	for _, k := range s.Sockets {
		f := k.First()
		if f.Netns == e.netns && recording.Host(f.Local) == recording.Host(remote) && recording.Port(f.Local) == e.at {
			return true
		}
	}
	return netns == e.netns
}

// oomKilled is the kernel's own word that it ended a process for want of memory.
func oomKilled(r *recording.Recording, pid int) (line string) {
	for _, e := range r.Events {
		if e.Kind == recording.EventKernelLog && e.Attrs["cause"] == "oom-kill" && pid != 0 && e.Subject.PID == pid {
			line = e.Attrs["line"]
		}
	}
	return line
}

// sender is who sent the signal that a process ended by; 0: nobody is known, or the kernel.
func sender(e recording.Event) int {
	pid, err := strconv.Atoi(e.Attrs["from_pid"])
	if err != nil || e.Attrs["by"] == "kernel" {
		return 0
	}
	return pid
}
