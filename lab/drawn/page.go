package drawn

import (
	"fmt"
	"io"
	"strings"
	"time"

	"snag/lab/score"
)

// Report is the score of drawn incidents: several judges on the same runs, snag first.
type Report struct {
	Date    time.Time     `json:"date"` // of the last run
	Machine score.Machine `json:"machine"`
	Commit  string        `json:"commit"` // that made the runs
	Judged  string        `json:"judged"` // the snag that judged them
	Command string        `json:"command"`
	Seeds   string        `json:"seeds"`
	Judges  []Judged      `json:"judges"`
}

// Judged are the marks of one judge.
type Judged struct {
	Name  string `json:"name"`
	Marks []Mark `json:"marks"`
}

// Markdown writes the tables; with details also a line for each run that was not right.
func (r Report) Markdown(w io.Writer, details bool) error {
	var b strings.Builder
	marks := r.Judges[0].Marks
	fmt.Fprintf(&b, "%s, runs made by %s, judged by %s, %d CPUs, kernel %s, %s: `%s`.\n", r.Date.UTC().Format("2006-01-02 15:04 UTC"),
		r.Commit, r.Judged, r.Machine.CPUs, r.Machine.Kernel, r.Seeds, r.Command)
	b.WriteString("\n### Over all\n\n")
	score.Grid(&b, r.overAll())
	origin := func(o Origin) func(Mark) string {
		return func(m Mark) string {
			if m.Origin != o {
				return ""
			}
			return m.Family
		}
	}
	for _, t := range []struct {
		title string
		name  func(Mark) string
	}{
		{"By origin", func(m Mark) string { return string(m.Origin) }},
		{"By kind", func(m Mark) string { return string(m.Kind) }},
		{"By how the fault lasts", func(m Mark) string { return string(m.Lasting) }},
		{"By the number of faults", func(m Mark) string {
			if m.Two {
				return "two faults at once"
			}
			return "one"
		}},
		{"Families of real software", origin(Real)},
		{"Families of the lab, whose authors wrote the suspects", origin(Lab)},
		{"Healthy families", origin(Healthy)},
	} {
		if rows := RowsBy(marks, t.name); len(rows) > 0 {
			fmt.Fprintf(&b, "\n### %s\n\n", t.title)
			score.Grid(&b, table(rows))
		}
	}
	if rows := remediesBy(marks); rows != nil {
		b.WriteString("\n### Commands for now, by suspect\n\n")
		score.Grid(&b, rows)
	}
	b.WriteString("\n### Confidence\n\n")
	b.WriteString(CalibrationOf(marks).Table())
	if details {
		b.WriteString("\n### What was not right\n\n")
		b.WriteString(wrongs(marks))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Report) overAll() [][]string {
	rows := [][]string{{""}}
	var sums []Row
	for _, j := range r.Judges {
		rows[0] = append(rows[0], j.Name)
		sums = append(sums, RowOf(j.Name, j.Marks))
	}
	for _, l := range []struct {
		name string
		of   func(Row) Share
	}{
		{"incidents that clients noticed: right cause first (AC@1)", func(r Row) Share { return r.AC1 }},
		{"right cause among the first three (AC@3)", func(r Row) Share { return r.AC3 }},
		{"right cause on the right subject", func(r Row) Share { return r.Subject }},
		{"\"nothing wrong\" said of an incident", func(r Row) Share { return r.NothingWrong }},
		{"abstained: something is wrong, nobody named", func(r Row) Share { return r.Abstained }},
		{"an innocent accused in an incident", func(r Row) Share { return r.FalseBeside }},
		{"an innocent accused in a healthy run", func(r Row) Share { return r.FalseHealthy }},
		{"somebody accused of a fault that no client noticed", func(r Row) Share { return r.FalseUnnoticed }},
		{"what the fault took is booked to its account, ± 15 points", func(r Row) Share { return r.Booked }},
	} {
		row := []string{l.name}
		for _, s := range sums {
			row = append(row, l.of(s).String())
		}
		rows = append(rows, row)
	}
	for _, line := range RemediesOf(r.Judges[0].Marks).overAll() {
		rows = append(rows, append(line, make([]string, len(rows[0])-len(line))...))
	}
	rows = append(rows, []string{"not counted: noise that clients noticed, void runs, failed runs", fmt.Sprintf("%d, %d, %d", sums[0].Loud, sums[0].Void, sums[0].Failed)})
	for len(rows[len(rows)-1]) < len(rows[0]) {
		rows[len(rows)-1] = append(rows[len(rows)-1], "")
	}
	return rows
}

// String is the share with its interval and what it is of: "0.72 (0.66–0.78) of 204".
func (s Share) String() string {
	if s.Of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f) of %d", s.Value(), s.Low, s.High, s.Of)
}

func table(rows []Row) [][]string {
	out := [][]string{{"", "incidents", "AC@1", "95 %", "AC@3", "subject", "nothing wrong", "abstained", "false", "healthy: false", "unnoticed: false", "noticed noise", "void", "failed"}}
	for _, r := range rows {
		out = append(out, []string{r.Name, fmt.Sprint(r.AC1.Of), short(r.AC1), interval(r.AC1), short(r.AC3), short(r.Subject), short(r.NothingWrong),
			short(r.Abstained), short(r.FalseBeside), counted(r.FalseHealthy), counted(r.FalseUnnoticed), fmt.Sprint(r.Loud), fmt.Sprint(r.Void), fmt.Sprint(r.Failed)})
	}
	return out
}

func short(s Share) string {
	if s.Of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", s.Value())
}

func interval(s Share) string {
	if s.Of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f–%.2f", s.Low, s.High)
}

func counted(s Share) string {
	if s.Of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f of %d", s.Part, s.Of)
}

// wrongs lists what was not right, the incidents first.
func wrongs(marks []Mark) string {
	var b strings.Builder
	for _, class := range []Class{Incident, Unnoticed, Well, Loud, Void, Broken} {
		for _, m := range marks {
			if line := m.wrong(); m.Class == class && line != "" {
				fmt.Fprintf(&b, "- `%s`: %s\n", m.Key, line)
			}
		}
	}
	if b.Len() == 0 {
		return "Nothing.\n"
	}
	return b.String()
}

// wrong is what was not right, "" of a mark that is.
func (m Mark) wrong() string {
	var parts []string
	switch {
	case m.Class == Loud, m.Class == Void, m.Class == Broken:
		return string(m.Class) + ": " + strings.ReplaceAll(m.Noticed, "\n", " ")
	case m.Class == Incident && m.Subject < 1:
		wanted := make([]string, len(m.Wanted))
		for i, w := range m.Wanted {
			wanted[i] = strings.Join(w, " or ")
		}
		said := "first is " + m.First
		switch {
		case m.NothingWrong:
			said = "nothing wrong"
		case m.Abstained:
			said = "nobody named"
		}
		parts = append(parts, fmt.Sprintf("%s; wanted %s; clients: %s", said, strings.Join(wanted, " and "), m.Noticed))
	}
	if len(m.False) > 0 {
		parts = append(parts, "accused: "+strings.Join(m.False, ", "))
	}
	if text := m.Healed.wrong(); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}
