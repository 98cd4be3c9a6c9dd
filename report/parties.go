package report

import (
	"fmt"
	"strings"

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
	Role       string            `json:"role"` // serve or call
	Subject    string            `json:"subject"`
	SubjectRef recording.Subject `json:"subject_ref"`
	Answered   uint64            `json:"answered"`
	Failed     uint64            `json:"failed,omitempty"`
	FailedAs   string            `json:"failed_as,omitempty"`
	Rate       float64           `json:"rate_per_second"`
	Mean       float64           `json:"mean_seconds"`
	P99        float64           `json:"p99_seconds"`
	Max        float64           `json:"max_seconds"`
	Open       float64           `json:"open"`    // on average at a moment
	Seconds    float64           `json:"seconds"` // request-seconds of the window
	Accounts   []Booked          `json:"accounts"`
}

// Booked is what was booked to one account, the greatest first.
type Booked struct {
	Account string  `json:"account"`
	Where   string  `json:"where,omitempty"` // the time goes on there: an address, a lock
	Seconds float64 `json:"seconds"`
	InLine  float64 `json:"in_line_seconds,omitempty"` // of them no thread was free for
	Delay   bool    `json:"delay"`                     // avoidable by nature
	Looks   uint64  `json:"looks,omitempty"`           // that it rests on; absent: exact counters
}

func requests(v *verdict.Verdict) (out []Requests) {
	if v.Ledger == nil {
		return nil
	}
	for _, p := range v.Ledger.Parties {
		one := Requests{string(p.Role), v.Scene.Name(p.Subject), p.Subject, p.Answered, p.Failed, p.FailedAs, p.Rate, p.Mean, p.P99, p.Max, p.Open, p.Demand, []Booked{}}
		for _, e := range p.Entries {
			one.Accounts = append(one.Accounts, Booked{string(e.Account), e.Where, e.Seconds, e.InLine, e.Account.Delay(), e.Looks})
		}
		out = append(out, one)
	}
	return out
}

// parties prints where the time of requests went: of each service, and of each that is
// called on another host. Those of the target come first, then those that have most requests
// open.
func (p *page) parties(v *verdict.Verdict) {
	if v.Ledger == nil {
		return
	}
	var lines []string
	for _, one := range targetFirst(v) {
		if !p.Verbose && (one.Open < leastOpen || otherEnd(one)) {
			continue
		}
		lines = append(lines, p.party(v, one))
	}
	if len(lines) == 0 {
		return
	}
	p.add("")
	for i, line := range lines {
		if i == max(1, p.detail.others/2) && len(lines) > i+1 {
			p.add("  " + p.dim(fmt.Sprintf("and %d more with requests: -v lists them", len(lines)-i)))
			break
		}
		p.item("", p.dim(fmt.Sprintf("%-14s", "requests")), strings.Repeat(" ", 14), line)
	}
}

// targetFirst orders parties so that those of the target that the user named come first.
func targetFirst(v *verdict.Verdict) []*ledger.Party {
	var rest, out []*ledger.Party
	for _, one := range v.Ledger.Parties {
		if v.Asked(one.Subject) {
			out = append(out, one)
		} else {
			rest = append(rest, one)
		}
	}
	return append(out, rest...)
}

// otherEnd: it calls a listener that has a line of its own, and the way there took little.
func otherEnd(one *ledger.Party) bool {
	return one.Role == ledger.Calls && one.Subject.Kind != recording.KindPeer &&
		(one.Share(ledger.Call)+one.Share(ledger.Unseen)+one.Share(ledger.Path) > leastCalled || one.Answered > 0 && one.Mean < leastWay)
}

func (p *page) party(v *verdict.Verdict, one *ledger.Party) string {
	name := v.Scene.Name(one.Subject)
	if one.Role == ledger.Calls {
		name = "calls of " + name
	}
	how := "none of them answered"
	if one.Answered > 0 {
		how = fmt.Sprintf("%s, %s on average (p99 %s)", units.Rate(one.Rate), took(one.Mean), took(one.P99))
	}
	if one.Failed > 0 {
		how += fmt.Sprintf(", %.2g %% errors", 100*float64(one.Failed)/float64(max(one.Answered, one.Failed)))
	}
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
		parts = append(parts, text)
	}
	if one.Answered > 0 && one.Mean < leastSplit && !p.Verbose {
		return name + " · " + how
	}
	return name + " · " + how + " · " + strings.Join(parts, ", ")
}

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
