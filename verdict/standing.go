package verdict

import (
	"fmt"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
)

// Standing is the answer in a word.
type Standing string

// The standings, the surest first.
const (
	Found    Standing = "culprit"
	Unproved Standing = "unproved"        // something is wrong, and no cause was proved
	Blind    Standing = "not-enough-seen" // what shows whether anybody was hurt was not measured
	Erring   Standing = "error-answers"   // some answers are errors: whether they are meant nobody said
	Slow     Standing = "slow"            // nothing is held up, but answers take long: whether too long nobody said
	Well     Standing = "nothing-wrong"
)

// Answers that take longer than this people notice within a host or a site (Nielsen, Usability
// Engineering, 1993: a tenth of a second is felt as at once). slowFew are too few to say so.
const (
	slowAnswer = 0.1 // s
	slowFew    = 5
)

// vital are the measures without which nobody can tell whether anybody was hurt.
var vital = []string{"sockets.diag", "sockets.turns", "host.processes"}

// Standing is what the verdict comes to.
func (v *Verdict) Standing() Standing {
	switch {
	case len(v.Here(Culprit)) > 0:
		return Found
	case v.Abstained != "":
		return Unproved
	case len(v.Unmeasured()) > 0, v.judgedNobody(), len(v.Uncounted()) > 0, v.idle() != "", v.loadTellsNothing() != "":
		return Blind
	case len(v.erring()) > 0:
		return Erring
	case len(v.SlowParties()) > 0:
		return Slow
	}
	return Well
}

// Unmeasured are the vital measures that were not taken, or in part only, with the reason
// and the cure; of files it is said by each suspect.
func (v *Verdict) Unmeasured() (out []recording.Coverage) {
	r := v.Recording
	if len(r.Parts) > 0 || len(r.Manifest.Files) > 0 || len(r.Coverage) == 0 {
		return nil
	}
	for _, measure := range vital {
		c, ok := r.Measured(measure)
		if ok && !c.Withheld() {
			continue
		}
		c.Probe = measure
		out = append(out, c)
	}
	return out
}

// judgedNobody: what a live recording kept is too little to judge a single suspect, where a full
// disk cut it off at its start, say.
func (v *Verdict) judgedNobody() bool {
	return len(v.Entries) > 0 && len(v.Recording.Manifest.Files) == 0 && len(v.With(NotSeen)) == len(v.Entries)
}

// Uncounted are those of the target whose requests too many were missed of: nobody can tell
// whether they wait.
func (v *Verdict) Uncounted() (out []*ledger.Party) {
	if v.Ledger == nil {
		return nil
	}
	for _, p := range v.Ledger.Unknown {
		if v.scope.ours(p) {
			out = append(out, p)
		}
	}
	return out
}

// SlowParties are those whose answers take longer than people tolerate, nobody proved why:
// it may be what they are made for. What nobody works for, a long poll, is none.
func (v *Verdict) SlowParties() (out []*ledger.Party) {
	if v.Ledger == nil {
		return nil
	}
	for _, p := range v.Ledger.Parties {
		tolerated := slowAnswer
		if u := p.Usual; u != nil { // then it is known, and more would be a symptom
			tolerated = max(u.Objective, slowAnswer, 2*u.Mean)
		}
		slow := p.Answered >= slowFew && p.Mean*(1-p.Share(ledger.Parked)) >= tolerated
		if (slow || v.unanswered(p) || v.uneven(p)) && v.scope.ours(p) {
			out = append(out, p)
		}
	}
	return out
}

// uneven tells that one answer in a hundred of a service, or more, takes many times as long as most
// (Party.Tail), where there is no better time to compare it with.
func (v *Verdict) uneven(p *ledger.Party) bool {
	return p.Role == ledger.Serves && p.Usual == nil && len(p.PIDs) > 0 && p.Tail() > 0
}

// erring are the services of the target some of whose answers are errors, too few for a symptom:
// a database's that a program means to get (a row that is there already) look so too.
func (v *Verdict) erring() (out []*scene.Service) {
	if v.Scene == nil || v.Recording == nil {
		return nil
	}
	for _, one := range scene.ErrorAnswers(v.Scene, v.Recording) {
		if v.scope.concerns(one.Subject, nil) {
			out = append(out, one)
		}
	}
	return out
}

// unansweredFor is how long a request has no answer where most of a service's have none; where
// turns are measured in slices of the time none is seen for longer than a slice.
const (
	unansweredFor = 1   // s
	ofSlice       = 0.1 // s
)

// unanswered reports that a service leaves requests without an answer, and not since nobody in it
// has to work for them.
func (v *Verdict) unanswered(p *ledger.Party) bool {
	long := float64(unansweredFor)
	if c, ok := v.Recording.Measured("sockets.turns"); ok && c.InSlices() {
		long = ofSlice
	}
	return p.Role == ledger.Serves && p.Answered < slowFew && p.Oldest >= long && p.Share(ledger.Parked) < 0.5
}

// why says of a measure why it was not taken.
func why(c recording.Coverage) string {
	text := fmt.Sprintf("%s was not measured", c.Probe)
	if c.State == recording.CoveragePartial {
		text = c.Probe + " was measured in part"
	}
	if c.Why != "" {
		text += ": " + c.Why
	}
	return text
}

// Why says of the standings between a culprit and nothing wrong what stands against
// both, and the one measurement that would tell.
func (v *Verdict) Why() (text, next string) {
	switch v.Standing() {
	case Unproved:
		return v.Abstained, v.Next
	case Blind:
		for i, c := range v.Unmeasured() {
			if i > 0 {
				text += "; "
			}
			text += why(c)
			next = firstOf(next, c.Cure)
		}
		if text == "" && v.judgedNobody() {
			return "the recording holds nothing to judge any of its suspects by", "snag find --out DIR, on a disk with some MB to spare"
		}
		if lacking := v.Uncounted(); text == "" && len(lacking) > 0 {
			text = fmt.Sprintf("many requests of HTTP/2 at %s were not seen, so it is not known how long they take", v.Scene.Name(lacking[0].Subject))
			if len(lacking) > 1 {
				text += fmt.Sprintf(" (and at %d more)", len(lacking)-1)
			}
			return text, "what its clients measure (grpc_client_handling_seconds, say), or snag find --for 2m: connections that begin in it are followed"
		}
		if untold := v.loadTellsNothing(); text == "" && untold != "" {
			return untold, "snag load TARGET with the same flags, until its figures are the service's; then snag find --load again"
		}
		if text == "" {
			text, next = v.idle(), "snag find --for 2m, with the same target, while it is used"
		}
		return text, next
	case Erring:
		one := v.erring()[0]
		failed, of, as := one.Failed()
		return fmt.Sprintf("%s of %s answers of %s were errors, lately %s: whether they are meant only you know", units.Count(failed), units.Count(of), v.Scene.Name(one.Subject), as),
			"what its own log says of them"
	case Slow:
		slow := v.SlowParties()
		p := slow[0]
		text = fmt.Sprintf("no request waits without need, but answers of %s take %s", v.Scene.Name(p.Subject), units.Short(p.Mean))
		if v.unanswered(p) {
			text = fmt.Sprintf("no fault is seen, but requests of %s have no answer for up to %s", v.Scene.Name(p.Subject), units.Short(p.Oldest))
		}
		if v.uneven(p) && p.Mean < slowAnswer {
			text = fmt.Sprintf("no request is seen to wait without need, but one in a hundred answers of %s takes %s, where half take %s", v.Scene.Name(p.Subject), units.Short(p.P99), units.Short(p.P50))
			if pid := p.PIDs[0]; !recording.StandsIn(pid) {
				next = fmt.Sprintf("snag find --pid %d   # what its threads wait for, and its locks", pid)
			}
		} else if len(p.Entries) > 0 {
			e := p.Entries[0]
			text += fmt.Sprintf(", %.0f %% of it %s", 100*e.Seconds/p.Demand, e.Account.Words())
			if e.Where != "" {
				text += " (" + e.Where + ")"
			}
		}
		if len(slow) > 1 {
			text += fmt.Sprintf(", and those of %d more are slow too", len(slow)-1)
		}
		return text + ": whether that is too long only you know",
			firstOf(next, "snag find --baseline GOOD   # compares it with a recording of a better time")
	}
	return "", ""
}
