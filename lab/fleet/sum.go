package fleet

import (
	"fmt"
	"strings"

	"snag/lab/drawn"
)

// Sum is what some outcomes say together.
type Sum struct {
	Right, Host     drawn.Share // the first cause that is named; at the right host
	FalseBroken     int         // incidents in which somebody innocent is accused, also besides
	FalseHealthy    int         // healthy fleets in which somebody is
	Asked, Answered int         // samples
	Refused         float64
	Served          int // incidents in which the page of snag serve named the same cause first
	healthy         int
}

// SumOf adds up.
func SumOf(all []Outcome) (s Sum) {
	right, host := 0, 0
	for _, o := range all {
		right += one(o.Mark.Right)
		host += one(o.Mark.Host)
		s.FalseBroken += one(o.Mark.Accused > 0)
		s.FalseHealthy += one(o.Healthy.Accused > 0)
		s.Asked += o.Samples.Asked
		s.Answered += o.Samples.Answered
		s.Refused += o.Samples.Refused
		s.Served += one(o.Served.first() == o.After.first())
	}
	s.Right, s.Host, s.healthy = drawn.Wilson(float64(right), len(all)), drawn.Wilson(float64(host), len(all)), len(all)
	return s
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (s Sum) String() string {
	share := func(x drawn.Share) string {
		return fmt.Sprintf("%.0f of %d, %.2f (%.2f to %.2f)", x.Part, x.Of, x.Value(), x.Low, x.High)
	}
	return fmt.Sprintf("right host and subject first: %s\nright host first: %s\nsomebody innocent accused: in %d of %d incidents, in %d of %d healthy fleets\nsamples answered: %d of %d, %.0f requests refused or lost\nthe page of snag serve named the same first: %d of %d",
		share(s.Right), share(s.Host), s.FalseBroken, s.Right.Of, s.FalseHealthy, s.healthy, s.Answered, s.Asked, s.Refused, s.Served, s.healthy)
}

// Table has a row for each outcome, in Markdown.
func Table(all []Outcome) string {
	out := &strings.Builder{}
	fmt.Fprintf(out, "| incident, seed | how much | before it | named | mark | samples |\n|---|---|---|---|---|---|\n")
	for _, o := range all {
		named := "nobody (" + o.After.Standing + ")"
		if len(o.After.Causes) > 0 {
			var names []string
			for _, c := range o.After.Causes {
				names = append(names, strings.ReplaceAll(c.String(), "|", "\\|"))
			}
			named = strings.Join(names, "; ")
		}
		mark := "wrong"
		switch {
		case o.Mark.Right && o.Mark.Accused == 0:
			mark = "right"
		case o.Mark.Right:
			mark = fmt.Sprintf("right, and %d more", o.Mark.Accused)
		case o.Mark.Accused == 0:
			mark = "nobody named"
		}
		if o.Killed {
			mark += " (a receiver was killed)"
		}
		fmt.Fprintf(out, "| %s, %d | %s | %s | %s | %s | %d of %d |\n", o.Incident, o.Seed, o.Amount, o.Before.Standing, named, mark, o.Samples.Answered, o.Samples.Asked)
	}
	return out.String()
}
