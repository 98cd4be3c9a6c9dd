package compared

import (
	"cmp"

	"snag/compare"
	"snag/internal/sorting"
	"snag/internal/units"
	"snag/ledger"
	"snag/report/page"
)

// mostParties have their bars on the page.
const mostParties = 12

// Page is the comparison as the page shows it.
func (s *Shown) Page() *page.Comparison {
	out := &page.Comparison{Outcome: string(s.Outcome()), Sentence: s.Sentence(), A: s.NameA, B: s.NameB, Parties: []page.ComparedParty{}, Changes: []page.ComparedChange{}}
	for i, p := range s.Parties {
		if i < mostParties {
			out.Parties = append(out.Parties, pageParty(p))
		}
		if p.Time.Differs() {
			out.Changes = append(out.Changes, page.ComparedChange{What: compare.Name(p.B) + ": time of an answer", A: units.Short(p.Time.A), B: units.Short(p.Time.B), Worse: p.Time.Worse()})
		}
		if p.Failed.Differs() {
			out.Changes = append(out.Changes, page.ComparedChange{What: compare.Name(p.B) + ": errors among the answers", A: units.Percent(p.Failed.A), B: units.Percent(p.Failed.B), Worse: p.Failed.Worse()})
		}
	}
	for _, a := range s.Amounts {
		one := page.ComparedChange{What: a.What + ", a " + per(a.Unit), A: number(a.Change.A, a.Unit), B: number(a.Change.B, a.Unit), Worse: a.Worse()}
		if a.Stream != "" {
			one = page.ComparedChange{What: "stream " + a.Stream + ": " + figureNames[a.What], A: shortFigure(a, a.Change.A), B: shortFigure(a, a.Change.B), Worse: a.Worse()}
		}
		out.Changes = append(out.Changes, one)
	}
	for _, all := range [][]compare.Setting{s.Settings, s.Builds} {
		for _, x := range all[:min(len(all), most)] {
			out.Changes = append(out.Changes, page.ComparedChange{What: x.Name, A: cut(orNone(x.A), 60), B: cut(orNone(x.B), 60)})
		}
	}
	return out
}

func pageParty(p compare.Party) page.ComparedParty {
	one := page.ComparedParty{Subject: compare.Name(p.B), Change: "none beyond chance", Worse: p.Worse(), MeanA: p.Time.A, MeanB: p.Time.B, Accounts: []page.ComparedAccount{}}
	if p.Time.Differs() {
		one.Change = changeOf(p.Time)
	}
	a, b := perAnswer(p.A), perAnswer(p.B)
	for account := range b {
		a[account] += 0 // each that one has, both have
	}
	for account, was := range a {
		one.Accounts = append(one.Accounts, page.ComparedAccount{Account: account.Words(), Delay: account.Delay(), A: was, B: b[account]})
	}
	sorting.By(one.Accounts, func(x, y page.ComparedAccount) int {
		return cmp.Or(cmp.Compare(y.B-y.A, x.B-x.A), cmp.Compare(x.Account, y.Account))
	})
	return one
}

// perAnswer is what each account takes of an answer on average, s.
func perAnswer(p *ledger.Party) map[ledger.Account]float64 {
	out := map[ledger.Account]float64{}
	for _, e := range p.Entries {
		out[e.Account] += e.Seconds / float64(max(1, p.Answered))
	}
	return out
}
