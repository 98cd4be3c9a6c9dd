package score

import "snag/lab"

// Row sums up some marks.
type Row struct {
	Name string `json:"name"`
	Runs int    `json:"runs"` // in which somebody was to be named
	// Shares of those runs; a run without a verdict counts as a miss.
	AC1 float64 `json:"ac1"`
	AC3 float64 `json:"ac3"`
	// Subject is a share of SubjectRuns: those in which there is a subject.
	Subject     float64 `json:"subject"`
	SubjectRuns int     `json:"subject_runs"`
	Abstained   int     `json:"abstained"`
	// Innocent counts the runs in which nobody was to be accused, FalseRuns those of
	// all runs in which somebody innocent was, False how many were.
	Innocent  int `json:"innocent"`
	FalseRuns int `json:"false_runs"`
	False     int `json:"false"`
	Failed    int `json:"failed"`
	// Seconds to the verdict: the mean of TimedRuns.
	Seconds   float64 `json:"seconds"`
	TimedRuns int     `json:"timed_runs"`
}

// Sheet is the score of one judge.
type Sheet struct {
	Judge  string `json:"judge"`
	Causes []Row  `json:"causes"`
	Levels []Row  `json:"levels"`
	All    Row    `json:"all"`
	// Calibration is nil for a judge that gives no confidence.
	Calibration *Calibration `json:"calibration,omitempty"`
	Marks       []Mark       `json:"marks"`
}

// Sum makes the sheet of a judge. One that has nothing to say of itself (a set of
// thresholds) is not asked for words about the observer.
func Sum(judge string, marks []Mark, confident bool) Sheet {
	s := Sheet{Judge: judge, Marks: marks}
	causes, levels := table{}, table{}
	all := table{}
	var claims []Claim
	for _, m := range marks {
		if m.SaidOnly && !confident {
			m.Causes = nil
		}
		causes.row(m.Name).add(m)
		levels.row(group(m)).add(m)
		all.row("all").add(m)
		claims = append(claims, m.Claims...)
	}
	s.Causes, s.Levels = causes.done(), levels.done()
	if rows := all.done(); len(rows) == 1 {
		s.All = rows[0]
	}
	if confident {
		c := Calibrate(claims)
		s.Calibration = &c
	}
	return s
}

// group names the kind of run that a mark is of.
func group(m Mark) string {
	switch {
	case m.Variant != lab.Sick:
		return string(m.Variant)
	case len(m.Causes) > 1:
		return "pairs"
	default:
		return string(m.Level)
	}
}

// table keeps rows in the order in which they came.
type table struct{ rows []*Row }

func (t *table) row(name string) *Row {
	for _, r := range t.rows {
		if r.Name == name {
			return r
		}
	}
	r := &Row{Name: name}
	t.rows = append(t.rows, r)
	return r
}

// add counts sums; done makes them shares.
func (r *Row) add(m Mark) {
	if len(m.Causes) > 0 {
		r.Runs++
		r.AC1 += m.AC1
		r.AC3 += m.AC3
		if !m.SaidOnly {
			r.SubjectRuns++
			r.Subject += m.Subject
		}
	} else {
		r.Innocent++
	}
	if m.Outcome == lab.Failed {
		r.Failed++
	}
	if m.Abstained {
		r.Abstained++
	}
	if len(m.False) > 0 {
		r.FalseRuns++
		r.False += len(m.False)
	}
	if m.Seconds > 0 {
		r.TimedRuns++
		r.Seconds += m.Seconds
	}
}

func (t *table) done() []Row {
	var out []Row
	for _, r := range t.rows {
		if r.Runs > 0 {
			r.AC1 /= float64(r.Runs)
			r.AC3 /= float64(r.Runs)
		}
		if r.SubjectRuns > 0 {
			r.Subject /= float64(r.SubjectRuns)
		}
		if r.TimedRuns > 0 {
			r.Seconds /= float64(r.TimedRuns)
		}
		out = append(out, *r)
	}
	return out
}
