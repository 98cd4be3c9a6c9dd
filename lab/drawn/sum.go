package drawn

import (
	"math"
	"slices"

	"snag/lab/score"
)

// Share is a part of some runs, with the 95 % interval that Wilson's score gives it.
type Share struct {
	Of   int     `json:"of"`
	Part float64 `json:"part"` // may be half a run, where one of two causes was named
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// share of n, by Wilson (JASA 22, 1927), with continuous counts.
func shareOf(part float64, n int) Share {
	s := Share{Of: n, Part: part, High: 1}
	if n == 0 {
		return s
	}
	const z = 1.959964
	p, N := part/float64(n), float64(n)
	mid, half := p+z*z/(2*N), z*math.Sqrt(p*(1-p)/N+z*z/(4*N*N))
	s.Low, s.High = max(0, (mid-half)/(1+z*z/N)), min(1, (mid+half)/(1+z*z/N))
	return s
}

// Value is the share itself, 0 to 1; 0 of nothing.
func (s Share) Value() float64 {
	if s.Of == 0 {
		return 0
	}
	return s.Part / float64(s.Of)
}

// Row sums up some marks.
type Row struct {
	Name string `json:"name"`
	// Of the incidents.
	AC1          Share `json:"ac1"`
	AC3          Share `json:"ac3"`
	Subject      Share `json:"subject"`
	NothingWrong Share `json:"nothing_wrong"`
	Abstained    Share `json:"abstained"`
	FalseBeside  Share `json:"false_beside"` // somebody innocent was accused as well, or alone
	// Of the healthy runs, and of those with a fault that nobody noticed.
	FalseHealthy   Share `json:"false_healthy"`
	FalseUnnoticed Share `json:"false_unnoticed"`
	// Booked are the incidents in which the ledger booked to the right account what the fault
	// took, to within 15 points, of those in which that can be told.
	Booked Share `json:"booked"`
	Loud   int   `json:"loud"`
	Void   int   `json:"void"`
	Failed int   `json:"failed"`
}

// RowOf sums marks up.
func RowOf(name string, marks []Mark) Row {
	var ac1, ac3, subject, nothing, abstained, beside, healthy, unnoticed, booked float64
	told := 0
	n := map[Class]int{}
	for _, m := range marks {
		n[m.Class]++
		accused := 0.0
		if len(m.False) > 0 {
			accused = 1
		}
		switch m.Class {
		case Incident:
			ac1, ac3, subject, beside = ac1+m.AC1, ac3+m.AC3, subject+m.Subject, beside+accused
			nothing, abstained = nothing+one(m.NothingWrong), abstained+one(m.Abstained)
			if m.Booked != nil {
				told++
				booked += one(m.Booked.right())
			}
		case Well:
			healthy += accused
		case Unnoticed:
			unnoticed += accused
		}
	}
	i := n[Incident]
	return Row{
		Name: name, AC1: shareOf(ac1, i), AC3: shareOf(ac3, i), Subject: shareOf(subject, i),
		NothingWrong: shareOf(nothing, i), Abstained: shareOf(abstained, i), FalseBeside: shareOf(beside, i),
		Booked:       shareOf(booked, told),
		FalseHealthy: shareOf(healthy, n[Well]), FalseUnnoticed: shareOf(unnoticed, n[Unnoticed]),
		Loud: n[Loud], Void: n[Void], Failed: n[Broken],
	}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// RowsBy sums marks up by what name gives, in the order of the names; marks whose name is
// "" are left out.
func RowsBy(marks []Mark, name func(Mark) string) []Row {
	groups := map[string][]Mark{}
	for _, m := range marks {
		if n := name(m); n != "" {
			groups[n] = append(groups[n], m)
		}
	}
	var names []string
	for n := range groups {
		names = append(names, n)
	}
	slices.Sort(names)
	var out []Row
	for _, n := range names {
		out = append(out, RowOf(n, groups[n]))
	}
	return out
}

// CalibrationOf holds the confidence of all accusations against what was right.
func CalibrationOf(marks []Mark) score.Calibration {
	var claims []score.Claim
	for _, m := range marks {
		claims = append(claims, m.Claims...)
	}
	return score.Calibrate(claims)
}

// Wilson is part of n runs, with its interval.
func Wilson(part float64, n int) Share { return shareOf(part, n) }
