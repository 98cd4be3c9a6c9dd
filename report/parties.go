package report

import (
	"fmt"
	"slices"
	"strings"

	"snag/internal/shown"
	"snag/internal/sorting"
	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/verdict"
)

// Of a party's accounts those are shown that have this share of its time, and of parties
// those that have this many requests open on average: one in a hundred seconds.
const (
	leastShare = 0.03
	leastOpen  = 0.01
	// Of calls within this host, which have a line at the other end, those have one here
	// whose way takes more than the rest of this share, and long enough to matter.
	leastCalled = 0.8
	leastWay    = 0.005 // s
	// Where the time of answers goes that take less than this moves nobody.
	leastSplit = 0.001 // s
)

// Requests are those of one service, or of all on this host that call one: their rate and
// time, and the accounts that the time is booked to, which add up to seconds.
type Requests struct {
	Role       string     `json:"role"` // serve or call
	Subject    string     `json:"subject"`
	SubjectRef SubjectRef `json:"subject_ref"`
	Answered   uint64     `json:"answered"`
	Failed     uint64     `json:"failed,omitempty"`
	FailedAs   string     `json:"failed_as,omitempty"`
	Rate       float64    `json:"rate_per_second"`
	Mean       float64    `json:"mean_seconds"`
	P99        float64    `json:"p99_seconds"`
	Max        float64    `json:"max_seconds"`
	Open       float64    `json:"open"`           // on average at a moment
	Seconds    float64    `json:"seconds"`        // request-seconds of the window
	Held       float64    `json:"held,omitempty"` // held up without need at a moment, on average; absent: nobody would notice
	Accounts   []Booked   `json:"accounts"`
}

// Booked is what was booked to one account, the greatest first.
type Booked struct {
	Account string  `json:"account"`
	Where   string  `json:"where,omitempty"` // the time goes on there: an address, a lock
	Seconds float64 `json:"seconds"`
	InLine  float64 `json:"in_line_seconds,omitempty"` // of them no thread was free for
	Delay   bool    `json:"delay"`                     // avoidable by nature
	Looks   uint64  `json:"looks,omitempty"`           // that it rests on; absent: exact counters
	// Claimed is the part that a culprit explains, and ClaimedBy the id of its entry.
	Claimed   float64 `json:"claimed_seconds,omitempty"`
	ClaimedBy string  `json:"claimed_by,omitempty"`
}

func requests(v *verdict.Verdict) (out []Requests) {
	if v.Ledger == nil {
		return nil
	}
	for _, p := range v.Ledger.Parties {
		d, _ := v.Hurt(p)
		one := Requests{string(p.Role), v.Scene.Name(p.Subject), subjectRef(v, p.Subject), p.Answered, p.Failed, p.FailedAs, p.Rate, p.Mean, p.P99, p.Max, p.Open, p.Demand, d.Held, []Booked{}}
		claims := v.Claims(p)
		for _, e := range p.Entries {
			b := Booked{string(e.Account), e.Where, e.Seconds, e.InLine, e.Account.Delay(), e.Looks, 0, ""}
			if c := claims[e.Account]; c.Share > 0 { // calls of several addresses share one
				b.Claimed, b.ClaimedBy = e.Seconds*min(1, c.Share/p.Share(e.Account)), c.ID
			}
			one.Accounts = append(one.Accounts, b)
		}
		out = append(out, one)
	}
	return out
}

// parties prints where the time of requests went: of each service, and of each that is
// called on another host. Those of the target come first, then those that are held up, which have
// a bar, then those that have most requests open. Where a target was named all others' are left to
// Verbose.
func (p *page) parties(v *verdict.Verdict) {
	if v.Ledger == nil {
		return
	}
	all := slices.DeleteFunc(hurtFirst(v), func(one *ledger.Party) bool {
		return !p.Verbose && (one.Open < leastOpen || otherEnd(one) || !v.Ours(one))
	})
	unknown := v.Uncounted()
	if p.Verbose {
		unknown = v.Ledger.Unknown
	}
	if len(all)+len(unknown) == 0 {
		return
	}
	p.gap()
	for _, one := range unknown {
		p.item("", p.dim(fmt.Sprintf("%-*s", margin, "requests")), strings.Repeat(" ", margin), partyName(v, one)+" · rate and times unknown: not all of its HTTP/2 was seen")
	}
	for i, one := range all {
		if i == max(1, p.detail.others/2) && len(all) > i+1 {
			if p.detail.roomy {
				p.add("  " + p.dim(fmt.Sprintf("and %d more with requests: -v lists them", len(all)-i)))
			}
			break
		}
		p.party(v, one)
	}
}

// hurtFirst orders parties so that those of the target that the user named come first, and of them
// and of the others those whose requests are held up.
func hurtFirst(v *verdict.Verdict) []*ledger.Party {
	rank := func(one *ledger.Party) (n int) {
		if !v.Ours(one) {
			n = 2
		}
		if _, hurt := v.Hurt(one); !hurt {
			n++
		}
		return n
	}
	out := slices.Clone(v.Ledger.Parties)
	sorting.StableBy(out, func(a, b *ledger.Party) int { return rank(a) - rank(b) })
	return out
}

// otherEnd: it calls a listener that has a line of its own, and the way there took little.
func otherEnd(one *ledger.Party) bool {
	return one.Role == ledger.Calls && one.Subject.Kind != recording.KindPeer &&
		(one.Share(ledger.Call)+one.Share(ledger.Unseen)+one.Share(ledger.Path) > leastCalled || one.Answered > 0 && one.Mean < leastWay)
}

// margin is how far their lines are indented.
const margin = 14

func partyName(v *verdict.Verdict, one *ledger.Party) string {
	if one.Role == ledger.Calls {
		return "calls of " + v.Scene.Name(one.Subject)
	}
	return v.Scene.Name(one.Subject)
}

// party prints one, with a bar where its requests are held up.
func (p *page) party(v *verdict.Verdict, one *ledger.Party) {
	mark, hang := p.dim(fmt.Sprintf("%-*s", margin, "requests")), strings.Repeat(" ", margin)
	name := partyName(v, one)
	how := "none of them answered"
	if one.Answered > 0 {
		how = fmt.Sprintf("%s, %s on average (p99 %s)", units.Rate(one.Rate), took(one.Mean), took(one.P99))
	}
	if one.Failed > 0 {
		how += fmt.Sprintf(", %.2g %% errors", 100*float64(one.Failed)/float64(max(one.Answered, one.Failed)))
	}
	if one.Answered > 0 && one.Mean < leastSplit && !p.Verbose {
		p.item("", mark, hang, name+" · "+how)
		return
	}
	claims := v.Claims(one)
	var parts []string
	for _, e := range together(one.Entries) {
		share := e.Seconds / one.Demand
		if share < leastShare && !p.Verbose {
			continue
		}
		text := fmt.Sprintf("%.0f %% %s", 100*share, e.Account.Words())
		if e.Account == ledger.Call && e.Where != "" {
			text = fmt.Sprintf("%.0f %% waiting for %s", 100*share, e.Where)
		}
		if c := claims[e.Account]; c.Share >= leastShare {
			text += " (" + c.Suspect + ")"
		}
		parts = append(parts, text)
	}
	if _, hurt := v.Hurt(one); !hurt {
		p.item("", mark, hang, name+" · "+how+" · "+strings.Join(parts, ", "))
		return
	}
	p.figures(mark, hang, name, how)
	if !p.detail.roomy {
		return
	}
	p.add(hang + bar(one, claims))
	p.item(hang, "", "", strings.Join(parts, ", "))
}

// figures adds a name with its figures. Where the screen is short, the name is cut and the figures are not.
func (p *page) figures(mark, hang, name, how string) {
	room := p.Width - len(hang) - shown.Columns(how) - shown.Columns(" · ")
	if !p.detail.wrap && shown.Columns(name) > room && room >= leastName {
		name = shown.Cut(name, room-1) + "…"
	}
	p.answer("", mark, hang, name+" · "+how)
}

// leastName is how much of a name is enough to tell it from others, columns.
const leastName = 16

// together adds up the entries of an account but calls, which differ by whom they call.
func together(all []ledger.Entry) (out []ledger.Entry) {
next:
	for _, e := range all {
		for i := range out {
			if out[i].Account == e.Account && (e.Account != ledger.Call || out[i].Where == e.Where) {
				out[i].Seconds += e.Seconds
				continue next
			}
		}
		out = append(out, e)
	}
	return out
}
