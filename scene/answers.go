package scene

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// Five failed answers are somebody's odd request; 1 in 100 is what a service with users
// promises at the least. Databases and stores answer with errors that a program means to
// get (a row that is there already), so of those it takes more.
const (
	failedAnswers = 5
	failedOfAll   = 0.01
	failedOfStore = 0.05
	// A name server refuses by its policy what is asked for others' names (RFC 1035, section
	// 4.1.1), from whoever asks. Where it refuses nearly all that it is asked, its policy is the fault;
	// where it passes on what another refused, that is none of its own, and half is enough.
	failedOfPolicy = 0.9
	passedOn       = 0.5
	byPolicy       = "DNS REFUSED"
)

// answersThatFail: a service answers with errors, in its protocol's own words.
func answersThatFail(s *Scene, r *recording.Recording) []Symptom {
	var out []Symptom
	for _, v := range ErrorAnswers(s, r) {
		if sym, ok := v.Failing(s, r); ok {
			out = append(out, sym)
		}
	}
	return out
}

// ErrorAnswers are the services of whose answers 1 in 100 or more are errors that somebody got:
// whether a program means to get them is another question.
func ErrorAnswers(s *Scene, r *recording.Recording) (out []*Service) {
	var asked *askers
	for _, v := range Services(s, r, "serve") {
		if failed, of, _ := v.Failed(); failed < failedAnswers || failed < failedOfAll*of {
			continue
		}
		if asked == nil {
			asked = askersOf(s, r)
		}
		if !asked.kept(v) {
			out = append(out, v)
		}
	}
	return out
}

// askers are who asks whom, and what each answered itself.
type askers struct {
	failed, answered map[int]uint64
	of               map[NodeID][]recording.Turns // rows of callers, by whom they call
}

func askersOf(s *Scene, r *recording.Recording) *askers {
	a := &askers{map[int]uint64{}, map[int]uint64{}, map[NodeID][]recording.Turns{}}
	for _, row := range r.Turns {
		switch row.Role {
		case "serve":
			a.failed[row.PID] += row.Failed
			a.answered[row.PID] += row.N + row.Untimed
		case "call":
			id := IDOf(callee(s, row))
			a.of[id] = append(a.of[id], row)
		}
	}
	return a
}

// kept reports that nobody but services of this host got a service's errors, and that those
// passed none on: checks before it is ready, or tries that went elsewhere. Who asks in other
// seconds got none of them.
func (a *askers) kept(v *Service) bool {
	asked, others := 0.0, 0.0
	for _, row := range a.of[IDOf(v.Subject)] {
		if asked += float64(row.N); (a.answered[row.PID] == 0 || a.failed[row.PID] > 0) && v.BadAt(row.T) > 0 {
			others += float64(row.N)
		}
	}
	_, of, _ := v.Failed()
	return asked >= seenAsking*of && others < failedAnswers
}

// BadAt is how many of a service's answers were errors, or never came, in the second of a time, to
// within half of one: each namespace's rows have their own.
func (v *Service) BadAt(at recording.Time) (bad float64) {
	for _, row := range v.Rows {
		if max(row.T.Sub(at), at.Sub(row.T)) < time.Second/2 {
			bad += float64(row.Failed + row.Cut)
		}
	}
	return bad
}

// seenAsking is the share of a service's answers from which all who ask it were seen.
const seenAsking = 0.9

// Failed is how many of a service's answers were errors, of how many, and what they were.
func (v *Service) Failed() (failed, of float64, as string) {
	for _, row := range v.Rows {
		failed += float64(row.Failed)
		of += float64(row.N + row.Untimed)
		if row.Failed > 0 {
			as = row.FailedAs
		}
	}
	if n := len(v.Rows); n > 0 && v.Rows[n-1].Proto == "udp" {
		return v.unanswered(failed, of, as)
	}
	return failed, max(of, failed), as // a refusal that nobody asked for is no answer
}

// A query to a name server has no answer when it has none after gaveUp, for then nobody waits
// any more (resolv.conf(5), timeout; probes/sockets), nor when it is open for stillOpen at the
// end of the recording: an answer takes milliseconds, and most ask again after a second.
const (
	gaveUp    = 5 * time.Second
	stillOpen = 1 // s
	noAnswer  = "no DNS answer"
)

// unanswered adds the queries that a name server leaves open, which nothing tells to whoever
// asked. That one has no answer is known some seconds later: they are held against those
// that were answered early enough to be known.
func (v *Service) unanswered(failed, of float64, as string) (float64, float64, string) {
	last := v.Rows[len(v.Rows)-1]
	if strings.HasPrefix(as, noAnswer) {
		of = failed
		for _, row := range v.Rows {
			if row.T.Add(gaveUp) <= last.T {
				of += float64(row.N)
			}
		}
	}
	if last.Oldest < stillOpen {
		return failed, max(of, failed), as
	}
	open := float64(last.Open)
	if as == "" {
		as = noAnswer + " yet"
	}
	return failed + open, max(of, failed) + open, as
}

// Failing are a service's errors as a symptom; false where so few may be meant.
func (v *Service) Failing(s *Scene, r *recording.Recording) (Symptom, bool) {
	failed, of, as := v.Failed()
	floor, what := leastFailed(as), "answers"
	if _, _, tls := recording.IsTLSAlert(as); tls || refusesSession(as) {
		// A handshake or a login has several answers, and a connection that goes on many more: of
		// those that were refused there are one each.
		if opened := v.opened(r); opened >= failed && opened < of {
			of, what = opened, "connections"
		}
	}
	if !slices.ContainsFunc(v.Rows, func(row recording.Turns) bool { return row.Failed > 0 && row.FailedAs != byPolicy }) && as == byPolicy {
		floor = failedOfPolicy
		if got, _ := v.refusedItself(r); got > 0 {
			floor = passedOn
		}
	} else if got, of := v.refusedItself(r); strings.HasPrefix(as, "DNS ") && got >= failedAnswers && got >= passedOn*of {
		// It asks again, or elsewhere, and passes few on: whom it asks fails all the same. Names
		// that nobody can resolve are never most of what a resolver is asked.
		floor = failedOfAll
	}
	var active []recording.Interval
	for _, row := range v.Rows {
		if row.Failed > 0 || row.Proto == "udp" && row.Oldest >= stillOpen {
			active = append(active, second(row.T))
		}
	}
	return onset(Symptom{
		Name: FailedAnswers, Subject: v.Subject, Active: intervals.Merge(active, 0), Amount: failed, Unit: "answers", Share: failed / of,
		Text: fmt.Sprintf("%s of %s %s were errors: %s", units.Count(failed), units.Count(of), what, as),
	}, s), failed >= floor*of
}

// leastFailed is the share of a service's answers from which errors of a kind are a fault.
func leastFailed(as string) float64 {
	for _, kind := range []string{"HTTP", "SIP", "RTSP", noAnswer} {
		if strings.HasPrefix(as, kind) {
			return failedOfAll
		}
	}
	return failedOfStore
}

// refusedItself is how many of the answers that a resolver got from name servers were errors, and of how many.
func (v *Service) refusedItself(r *recording.Recording) (failed, of float64) {
	for _, q := range r.Queries {
		if slices.Contains(v.PIDs, q.PID) {
			failed, of = failed+float64(q.Failed), of+float64(q.Answered)
		}
	}
	return failed, of
}

// refusesSession tells of an error with which a server refuses a client as a whole: too many
// connections, no login for now (RFC 5530, RFC 3206; 421 of RFC 959 and RFC 5321).
func refusesSession(as string) bool {
	return slices.Contains([]string{"IMAP LIMIT", "IMAP BYE", "IMAP UNAVAILABLE", "POP3 -ERR [SYS/…]", "reply 421 of FTP, SMTP or NNTP"}, as)
}

// opened is how many connections a service took in.
func (v *Service) opened(r *recording.Recording) (n float64) {
	for _, c := range r.Connections {
		if c.Role == "accept" && c.Netns == v.Rows[0].Netns && c.Local == v.Rows[0].Local {
			n += float64(c.Opened)
		}
	}
	return n
}
