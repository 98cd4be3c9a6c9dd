package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"snag/internal/shown"
	"snag/internal/units"
	"snag/remedies/plan"
	"snag/verdict"
)

// WritePlan writes a plan for a person: for whom it is, each change from its value now
// to the one then with its reason, its risk and its check, then what only programs and
// people can do, and what works against it.
func WritePlan(w io.Writer, p *plan.Plan, o Options) error {
	if o.Width == 0 {
		o.Width = 100
	}
	pg := &page{Options: o, detail: everything, paint: palette(o.Color)}
	pg.planHead(p)
	for _, c := range p.Changes {
		pg.change(c)
	}
	if len(p.Changes) == 0 {
		pg.add("", pg.bold("Nothing that snag would set."))
	}
	if len(p.Advice) > 0 {
		pg.add("", pg.bold("Only a program or a person can do"))
		for _, a := range p.Advice {
			pg.answer("  ", "· ", "  ", pg.bold(a.Who)+": "+a.Do)
			pg.answer("      ", "", "", a.Why)
		}
	}
	if len(p.Conflicts) > 0 {
		pg.add("", pg.bold(pg.yellow("Works against it")))
		for _, c := range p.Conflicts {
			pg.answer("  ", "! ", "  ", c)
		}
	}
	if len(p.Covered) > 0 {
		pg.add("", pg.bold("As the role needs it"))
		for _, c := range p.Covered {
			pg.answer("  ", "· ", "  ", c)
		}
	}
	if v := p.Verify; v.Symptom != "" {
		of := ""
		if v.Subject != "" {
			of = " of " + v.Subject
		}
		pg.add("")
		pg.answer("", pg.bold("verified by  "), strings.Repeat(" ", 13), fmt.Sprintf("%s%s: it was %s, measured for %s", v.Symptom, of, amount(v.Before, v.Unit), v.For))
	}
	return pg.print(w)
}

func (p *page) planHead(pl *plan.Plan) {
	of := pl.For.Suspect
	if pl.For.Role != "" {
		of = "the role " + pl.For.Role
	}
	where := pl.Host
	if pl.Kernel != "" {
		where += ", kernel " + pl.Kernel
	}
	p.spread(p.bold("PLAN")+"  for "+p.bold(of), p.dim(where))
	for _, text := range []string{pl.For.Subject, pl.For.Text} {
		if text != "" {
			p.answer("  ", "", "", text)
		}
	}
}

func (p *page) change(c plan.Change) {
	now := strings.Join(strings.Fields(c.Now), " ") // the kernel parts numbers by tabs
	if now == "" {
		now = "not set"
	}
	p.add("")
	p.answer("", p.bold(c.ID+"  "), strings.Repeat(" ", len(c.ID)+2), p.bold(c.Target.String())+": "+now+" → "+p.bold(c.Then))
	with := ""
	if len(c.With) > 0 {
		with = "only with change " + strings.Join(c.With, ", ")
	}
	for _, row := range [][2]string{{"for", c.For}, {"why", c.Why}, {"risk", c.Risk}, {"needs", c.Needs}, {"", with}, {"check", c.Check}, {"source", c.Source}, {"persists", c.Persists}} {
		if row[1] != "" {
			p.answer("   ", p.dim(fmt.Sprintf("%-10s", row[0])), strings.Repeat(" ", 10), row[1])
		}
	}
}

// amount writes a symptom's amount in its unit.
func amount(v float64, unit string) string {
	switch unit {
	case "s":
		return strconv.FormatFloat(v, 'g', 3, 64) + " s"
	case "ratio", "share":
		return units.Percent(v)
	}
	return strings.TrimSpace(units.Count(v) + " " + unit)
}

// HasPlan reports whether a culprit has something that snag can set.
func HasPlan(v *verdict.Verdict) bool {
	return slices.ContainsFunc(v.Here(verdict.Culprit), func(e verdict.Entry) bool { return len(e.Settings) > 0 })
}

// WritePlanHint names the command that makes a plan, where a culprit has something that
// snag can set; nothing elsewhere.
func WritePlanHint(w io.Writer, v *verdict.Verdict, dir string) error {
	if !HasPlan(v) {
		return nil
	}
	_, err := io.WriteString(w, shown.Sprintf("with undo, as a plan:  snag tune plan %s\n", dir))
	return err
}
