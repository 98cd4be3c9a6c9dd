package score

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"snag/lab"
)

// Report is a whole score: several judges on the same runs. The first is snag.
type Report struct {
	Date    time.Time `json:"date"`
	Machine Machine   `json:"machine"`
	Command string    `json:"command"`
	Snag    string    `json:"snag"`
	Missing int       `json:"missing"` // cases that were not run
	Sheets  []Sheet   `json:"sheets"`
	// Written are the cases of causes that no incident can be made of here.
	Written []Written `json:"written,omitempty"`
}

// Goals of the first sheet, by the issue that asked for the score.
const (
	goalAC1     = 0.90
	goalAC3     = 0.97
	goalSubject = 0.90
)

// Unmet lists the goals that a sheet misses, a sentence each.
func (s Sheet) Unmet() []string {
	var out []string
	least := func(what string, got, want float64, n int) {
		if n > 0 && got < want {
			out = append(out, fmt.Sprintf("%s is %.3f, wanted %.2f", what, got, want))
		}
	}
	least("AC@1", s.All.AC1, goalAC1, s.All.Runs)
	least("AC@3", s.All.AC3, goalAC3, s.All.Runs)
	least("subject right", s.All.Subject, goalSubject, s.All.SubjectRuns)
	if s.All.False > 0 {
		out = append(out, fmt.Sprintf("%d false accusations in %d runs, wanted none", s.All.False, s.All.FalseRuns))
	}
	return out
}

// Markdown writes the report as tables.
func (r Report) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, snag %s, %d CPUs, kernel %s: `%s`.\n", r.Date.UTC().Format("2006-01-02 15:04 UTC"), r.Snag, r.Machine.CPUs, r.Machine.Kernel, r.Command)
	if r.Missing > 0 {
		fmt.Fprintf(&b, "\n%d of the planned runs were not made (out of time, or not asked for), and are in no number.\n", r.Missing)
	}
	b.WriteString("\n### Over all\n\n")
	Grid(&b, r.overAll())
	b.WriteString("\n### By kind of run\n\n")
	Grid(&b, rowsOf(r.Sheets, "runs", func(s Sheet) []Row { return s.Levels }))
	b.WriteString("\n### By cause\n\n")
	Grid(&b, rowsOf(r.Sheets, "cause", func(s Sheet) []Row { return s.Causes }))
	for _, s := range r.Sheets {
		if s.Calibration != nil {
			b.WriteString("\n### Confidence\n\n")
			b.WriteString(s.Calibration.Table())
		}
	}
	b.WriteString("\n### What was not right\n\n")
	b.WriteString(wrongs(r.Sheets))
	if len(r.Written) > 0 {
		b.WriteString("\n### Causes that can't be made here\n\n")
		writtenTable(&b, r.Written)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Report) overAll() [][]string {
	rows := [][]string{{""}}
	lines := []struct {
		name string
		cell func(Sheet) string
	}{
		{"runs with a cause", func(s Sheet) string { return fmt.Sprint(s.All.Runs) }},
		{"runs without", func(s Sheet) string { return fmt.Sprint(s.All.Innocent) }},
		{"AC@1", func(s Sheet) string { return share(s.All.AC1, s.All.Runs) }},
		{"AC@3", func(s Sheet) string { return share(s.All.AC3, s.All.Runs) }},
		{"subject right", func(s Sheet) string { return share(s.All.Subject, s.All.SubjectRuns) }},
		{"false accusations (runs)", falses},
		{"abstentions", func(s Sheet) string { return fmt.Sprint(s.All.Abstained) }},
		{"runs without a verdict", func(s Sheet) string { return fmt.Sprint(s.All.Failed) }},
		{"Brier score", func(s Sheet) string {
			if s.Calibration == nil || s.Calibration.N == 0 {
				return "–"
			}
			return fmt.Sprintf("%.4f", s.Calibration.Brier)
		}},
	}
	for _, s := range r.Sheets {
		rows[0] = append(rows[0], s.Judge)
	}
	for _, l := range lines {
		row := []string{l.name}
		for _, s := range r.Sheets {
			row = append(row, l.cell(s))
		}
		rows = append(rows, row)
	}
	if len(r.Sheets) > 0 && r.Sheets[0].All.TimedRuns > 0 {
		row := []string{"seconds to the verdict", fmt.Sprintf("%.1f", r.Sheets[0].All.Seconds)}
		for range r.Sheets[1:] {
			row = append(row, "–")
		}
		rows = append(rows, row)
	}
	return rows
}

func falses(s Sheet) string { return fmt.Sprintf("%d (%d)", s.All.False, s.All.FalseRuns) }

// rowsOf is a table of the first judge's rows, with the others' AC@1 and false
// accusations at the end.
func rowsOf(sheets []Sheet, name string, pick func(Sheet) []Row) [][]string {
	head := []string{name, "sick", "AC@1", "AC@3", "subject", "innocent", "false", "abstained", "failed", "s"}
	if len(sheets) == 0 {
		return [][]string{head}
	}
	for _, s := range sheets[1:] {
		head = append(head, s.Judge+": AC@1", "false")
	}
	out := [][]string{head}
	for i, r := range pick(sheets[0]) {
		row := []string{
			strings.ReplaceAll(r.Name, "+", " + "), fmt.Sprint(r.Runs), share(r.AC1, r.Runs), share(r.AC3, r.Runs), share(r.Subject, r.SubjectRuns),
			fmt.Sprint(r.Innocent), fmt.Sprint(r.False), fmt.Sprint(r.Abstained), fmt.Sprint(r.Failed), seconds(r),
		}
		for _, s := range sheets[1:] {
			other := pick(s)[i]
			row = append(row, share(other.AC1, other.Runs), fmt.Sprint(other.False))
		}
		out = append(out, row)
	}
	return out
}

func seconds(r Row) string {
	if r.TimedRuns == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", r.Seconds)
}

// share is a share with two digits, "–" of nothing.
func share(v float64, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", v)
}

// Table is the calibration in words and a table.
func (c Calibration) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d accusations, %d of them right. Brier score %.4f; always saying %.2f would get %.4f.\n\n",
		c.N, c.Right, c.Brier, float64(c.Right)/float64(max(1, c.N)), c.BaseBrier)
	rows := [][]string{{"confidence", "accusations", "said, on average", "were right"}}
	for _, bin := range c.Bins {
		row := []string{fmt.Sprintf("%.2f to %.2f", bin.From, bin.To), fmt.Sprint(bin.N), "–", "–"}
		if bin.N > 0 {
			row[2], row[3] = fmt.Sprintf("%.2f", bin.Said), fmt.Sprintf("%.2f", bin.Was)
		}
		rows = append(rows, row)
	}
	Grid(&b, rows)
	return b.String()
}

// wrongs lists what the first judge did not get right.
func wrongs(sheets []Sheet) string {
	var b strings.Builder
	if len(sheets) > 0 {
		for _, m := range sheets[0].Marks {
			if m.Outcome != lab.Right {
				why, _, _ := strings.Cut(m.Why, "\n")
				fmt.Fprintf(&b, "- `%s`: %s: %s\n", m.Key, m.Outcome, why)
			}
		}
	}
	if b.Len() == 0 {
		return "Nothing.\n"
	}
	return b.String()
}

// Grid writes a table whose columns stand under each other, so that it reads the
// same on a terminal.
func Grid(b *strings.Builder, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range rows {
		for i, cell := range row {
			b.WriteString("| " + cell + strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+1))
		}
		b.WriteString("|\n")
		if n == 0 {
			for _, w := range width {
				b.WriteString("|" + strings.Repeat("-", w+2))
			}
			b.WriteString("|\n")
		}
	}
}
