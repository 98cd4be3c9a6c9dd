// Package compared shows how two recordings differ: a sentence first, then tables, or JSON.
package compared

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"snag/compare"
	"snag/internal/units"
	"snag/report/profile"
)

// Shown is a comparison with what its tables need besides.
type Shown struct {
	*compare.Comparison
	NameA, NameB string
	// Functions of the program that changed most, by their share of its CPU samples; nil where one
	// of the recordings has no profile of it.
	Functions *profile.Diff
	Program   string
}

// New adds the functions of the program that changed most.
func New(c *compare.Comparison, nameA, nameB string) *Shown {
	s := &Shown{Comparison: c, NameA: nameA, NameB: nameB}
	if len(c.Parties) == 0 {
		return s
	}
	p := c.Root(c.Parties[0])
	if comm := p.B.Subject.Comm; comm != "" && (p.Time.Differs() || p.Failed.Differs()) {
		if d, err := profile.Compare(c.A, c.B, "", comm); err == nil { // an error: one of them has no samples of it
			s.Functions, s.Program = d, comm
		}
	}
	return s
}

// Sentence says first what matters most.
func (s *Shown) Sentence() string {
	switch {
	case s.MuteA != "":
		return fmt.Sprintf("can't tell: A does not answer: %s: %s", s.NameA, s.MuteA)
	case s.MuteB != "":
		return fmt.Sprintf("B does not answer: %s: %s", s.NameB, s.MuteB)
	}
	if len(s.Lost) > 0 {
		return lost(s.Lost[0])
	}
	if len(s.Stopped) > 0 {
		return stopped(s.Stopped[0])
	}
	if len(s.Parties) > 0 {
		p := s.Root(s.Parties[0])
		switch {
		case p.Failed.Worse():
			return fmt.Sprintf("%s: %s of the answers are errors, %s %s", compare.Name(p.B), units.Percent(p.Failed.B), units.Percent(p.Failed.A), s.was())
		case p.Time.Differs():
			return fmt.Sprintf("%s: the same requests take %s%s", compare.Name(p.B), longer(p.Time, s.was()), s.because(p)+s.differs(p))
		}
	}
	for _, a := range s.Amounts {
		switch {
		case a.Worse() && a.Stream != "":
			return s.streamWorse(a)
		case a.Worse():
			return fmt.Sprintf("more %s: %s a %s, %s before", a.What, number(a.Change.B, a.Unit), per(a.Unit), number(a.Change.A, a.Unit))
		}
	}
	if s.Outcome() == compare.CantTell {
		return "can't tell: " + s.tooLittle()
	}
	return fmt.Sprintf("no worse: of %s compared, none got worse by more than chance does", units.Plural(s.Compared, "figure"))
}

// was is where the other figure is from.
func (s *Shown) was() string {
	if s.Together {
		return "at " + s.NameA
	}
	return "before"
}

// stopped says what a service without answers left open.
func stopped(q compare.Silent) string {
	var why []string
	if q.Open > 0 {
		why = append(why, fmt.Sprintf("%s without an answer, the oldest for %s", units.Plural(int(q.Open), "open request"), units.Short(q.Oldest)))
	}
	if q.Cut > 0 {
		why = append(why, fmt.Sprintf("%s cut off before an answer", units.Plural(int(q.Cut), "request")))
	}
	if q.Failed > 0 {
		why = append(why, units.Plural(int(q.Failed), "connect")+" to it failed")
	}
	what := "hardly answers any more"
	if q.RateB == 0 {
		what = "stopped answering"
	}
	return fmt.Sprintf("%s %s: %s answers per second, %s before; %s", q.Name, what, number(q.RateB, ""), number(q.RateA, ""), strings.Join(why, ", "))
}

// tooLittle says what was missing.
func (s *Shown) tooLittle() string {
	switch {
	case len(s.Felt) > 0:
		f := s.Felt[0]
		return fmt.Sprintf("stream %s %s for %s in B, and not in A: once may be chance; record both for longer", f.Stream, f.What, units.Lasting(f.Seconds))
	case len(s.Gone) > 0 && (len(s.Parties) > 0 || len(s.OnlyB) == 0):
		return gone(s.Gone[0])
	case len(s.Quiet) > 0:
		q := s.Quiet[0]
		return fmt.Sprintf("%s had %s answers per second in A, and no requests to it were seen in B (%s); compare under the same load", q.Name, number(q.RateA, ""), number(q.RateB, ""))
	case len(s.TooFew) > 0:
		return fmt.Sprintf("too little of %s to compare; record for longer, or under load", strings.Join(s.TooFew, ", "))
	case slices.ContainsFunc(s.OneSided, func(what string) bool { return strings.HasPrefix(what, "requests") }):
		return "requests and answers were measured in one of the recordings only; snag show says why"
	case len(s.OnlyA)+len(s.OnlyB) > 0:
		return "no service or call is in both recordings"
	}
	if len(s.A.OnCPU) > 0 && len(s.B.OnCPU) > 0 {
		return "neither recording has requests and answers of a service; snag profile diff A B compares where their CPU time went"
	}
	return "neither recording has requests and answers of a service; record under load"
}

// gone says that a service of A is not there in B.
func gone(q compare.Silent) string {
	where := "its program does not run in B"
	if q.Elsewhere {
		where = "nothing listens at its address in B"
	}
	return fmt.Sprintf("%s had %s answers per second in A, and %s; start it, and compare again", q.Name, number(q.RateA, ""), where)
}

func longer(c compare.Change, was string) string {
	more, low, high := c.More(), c.Low-1, c.High-1
	word := "longer"
	if more < 0 {
		more, low, high, word = -more, -high, -low, "less time"
	}
	between := ""
	if c.Low > 0 {
		between = fmt.Sprintf("; %s to %s", percent(low), percent(high))
	}
	return fmt.Sprintf("%s %s (%s, %s %s%s)", percent(more), word, units.Short(c.B), units.Short(c.A), was, between)
}

// percent of a change: above 1,000 % as a multiple.
func percent(more float64) string {
	if more >= 10 {
		return fmt.Sprintf("%.0f times", more+1)
	}
	return fmt.Sprintf("%.0f %%", 100*more)
}

// because names the account that grew most, and the function, where it is computing.
func (s *Shown) because(p compare.Party) string {
	if len(p.Points) == 0 || !p.Time.Worse() || p.Points[0].Points <= 0 {
		return ""
	}
	top := p.Points[0]
	text := fmt.Sprintf("; %.0f points of it: %s", 100*top.Points, top.Account.Words())
	if more := p.Time.More(); more >= 2 {
		text = fmt.Sprintf("; %.0f %% of that: %s", min(100, 100*top.Points/more), top.Account.Words())
	}
	if f := s.grown(); f != nil && s.Program == p.B.Subject.Comm {
		text += fmt.Sprintf(" (%s takes %+.0f points of its CPU samples)", f.Function, 100*(f.B-f.A))
	}
	return text
}

// grown is the function whose share grew most beyond chance; nil: none.
func (s *Shown) grown() (most *profile.Change) {
	if s.Functions == nil {
		return nil
	}
	for i, c := range s.Functions.Self {
		if !c.Noise() && c.B > c.A && (most == nil || c.B-c.A > most.B-most.A) {
			most = &s.Functions.Self[i]
		}
	}
	return most
}

// per is what an amount is by.
func per(unit string) string {
	if unit == compare.PerMinute {
		return "minute"
	}
	return "second"
}

func number(v float64, unit string) string {
	if unit == "s" {
		return units.Lasting(v)
	}
	if v != 0 && math.Abs(v) < 10 {
		return fmt.Sprintf("%.2g", v)
	}
	return units.Count(v)
}
