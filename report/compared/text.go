package compared

import (
	"fmt"
	"io"
	"strings"

	"snag/compare"
	"snag/internal/shown"
	"snag/internal/units"
)

// Rows of each table that are printed.
const (
	most          = 12
	mostFunctions = 5
)

// WriteText prints a comparison.
func (s *Shown) WriteText(w io.Writer, width int) error {
	if width <= 0 {
		width = 80
	}
	var b strings.Builder
	head := map[compare.Outcome]string{compare.Worse: "WORSE", compare.AsGood: "AS GOOD", compare.CantTell: "CAN'T TELL"}[s.Outcome()]
	b.WriteString(shown.Wrapped(head+"  "+strings.TrimPrefix(s.Sentence(), "can't tell: "), width))
	fmt.Fprintf(&b, "\nA  %s  %s\nB  %s  %s\n", s.NameA, span(s.A), s.NameB, span(s.B))
	s.streams(&b, width)
	s.parties(&b, width)
	s.amounts(&b)
	table(&b, "Programs and libraries that are other builds", s.Builds, width)
	table(&b, "Settings that differ", s.Settings, width)
	s.functions(&b)
	for _, q := range s.Stopped {
		b.WriteString("\n" + shown.Wrapped(stopped(q), width))
	}
	for _, q := range s.Quiet {
		b.WriteString("\n" + shown.Wrapped(fmt.Sprintf("not asked in B: %s (%s answers per second, %s in A)", q.Name, number(q.RateB, ""), number(q.RateA, "")), width))
	}
	list(&b, "only in A", s.OnlyA)
	list(&b, "only in B", s.OnlyB)
	list(&b, "too little of it to compare", s.TooFew)
	list(&b, "not compared", s.OneSided)
	if s.Together {
		b.WriteString("\n" + shown.Wrapped("Not seen: what the servers did meanwhile. sudo snag find on a server's host says what its answers, or its streams (--stream URL), wait for.", width))
	}
	b.WriteString("\n" + shown.Wrapped(fmt.Sprintf("%s compared. If nothing differed, at most 5 of 100 such comparisons would find a change.", units.Plural(s.Compared, "figure")), width))
	_, err := io.WriteString(shown.To(w), b.String())
	return err
}

func (s *Shown) parties(b *strings.Builder, width int) {
	if len(s.Parties) == 0 {
		return
	}
	name := min(34, max(12, width-52))
	fmt.Fprintf(b, "\n%-*s %9s %9s  %-22s %s\n", name, "Answers of", "A", "B", "change", "per second")
	for i, p := range s.Parties {
		if i == most {
			fmt.Fprintf(b, "and %d more (--json)\n", len(s.Parties)-most)
			break
		}
		change := "none beyond chance"
		if p.Time.Differs() {
			change = changeOf(p.Time)
		}
		fmt.Fprintf(b, "%-*s %9s %9s  %-22s %s → %s\n", name, inside(compare.Name(p.B), name), units.Short(p.Time.A), units.Short(p.Time.B), change, number(p.RateA, ""), number(p.RateB, ""))
		if p.Failed.Differs() {
			fmt.Fprintf(b, "%-*s %9s %9s  errors among the answers\n", name, "", units.Percent(p.Failed.A), units.Percent(p.Failed.B))
		}
		if !p.Time.Differs() {
			continue
		}
		for n, q := range p.Points {
			if n == 3 || q.Points < 0.02 {
				break
			}
			fmt.Fprintf(b, "  %s  %s\n", pointsOf(q, p.Time), q.Account.Words())
		}
	}
}

func changeOf(c compare.Change) string {
	if c.More() >= 2 {
		return fmt.Sprintf("× %.3g (%.3g to %.3g)", c.B/c.A, c.Low, c.High)
	}
	return fmt.Sprintf("%+.0f %% (%+.0f to %+.0f)", 100*c.More(), 100*(c.Low-1), 100*(c.High-1))
}

// pointsOf is an account's part of a change: in points of A's time, or of the growth where that is
// more than A's time twice.
func pointsOf(q compare.Point, c compare.Change) string {
	if more := c.More(); more >= 2 {
		return fmt.Sprintf("%4.0f %% of the growth", 100*q.Points/more)
	}
	return fmt.Sprintf("%+5.0f points", 100*q.Points)
}

func (s *Shown) amounts(b *strings.Builder) {
	var all []compare.Amount
	for _, a := range s.Amounts {
		if a.Stream == "" { // those of streams have their own table
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%11s %9s  %s\n", "A, per s", "B", "What else changed")
	for i, a := range all {
		if i == most {
			fmt.Fprintf(b, "and %d more (--json)\n", len(all)-most)
			break
		}
		what := a.What
		if a.Unit == compare.PerMinute {
			what += " (per minute)"
		}
		fmt.Fprintf(b, "%11s %9s  %s\n", number(a.Change.A, a.Unit), number(a.Change.B, a.Unit), what)
	}
}

// functions are those of the program whose answers changed most.
func (s *Shown) functions(b *strings.Builder) {
	if s.Functions == nil || len(s.Functions.Self) == 0 || s.Functions.Self[0].Noise() {
		return
	}
	fmt.Fprintf(b, "\n%9s %9s  Functions of %s, of its CPU samples\n", "A", "B", s.Program)
	for i, f := range s.Functions.Self {
		if i == mostFunctions || f.Noise() {
			return
		}
		fmt.Fprintf(b, "%9s %9s  %s\n", units.Percent(f.A), units.Percent(f.B), strings.TrimSpace(f.Function+" "+f.Object))
	}
}

func table(b *strings.Builder, title string, all []compare.Setting, width int) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for i, s := range all {
		if i == most {
			fmt.Fprintf(b, "and %d more (--json)\n", len(all)-most)
			return
		}
		fmt.Fprintln(b, cut(fmt.Sprintf("  %s: %s → %s", s.Name, orNone(s.A), orNone(s.B)), width))
	}
}

func orNone(v string) string {
	if v == "" {
		return "none"
	}
	return v
}

func list(b *strings.Builder, title string, names []string) {
	if len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("and %d more", len(names)-most))
	}
	if len(names) > 0 {
		fmt.Fprintf(b, "\n%s: %s\n", title, strings.Join(names, ", "))
	}
}

func cut(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	return string(r[:width-1]) + "…"
}

// inside cuts a name in its middle: its end is a port.
func inside(s string, width int) string {
	const end = 10
	r := []rune(s)
	if len(r) <= width || width <= end+1 {
		return cut(s, width)
	}
	return string(r[:width-end-1]) + "…" + string(r[len(r)-end:])
}
