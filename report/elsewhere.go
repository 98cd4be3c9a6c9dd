package report

import (
	"fmt"
	"slices"

	"snag/internal/shown"
	"snag/verdict"
)

// elsewhere prints what was found that does not concern the target, a line each: it is not what
// was asked, and may be what somebody else asks next.
func (p *page) elsewhere(v *verdict.Verdict) {
	var lines, rest []string
	var explained []int
	for _, e := range v.Elsewhere() {
		line := fmt.Sprintf("%-13s %s · %s · %s", e.State, e.Suspect.Name, e.Subject.Name, e.Text)
		switch {
		case e.State == verdict.Culprit, e.State == verdict.Contributing:
			lines, explained = append(lines, line), append(explained, e.Explains...)
		case e.State == verdict.Risk, p.Verbose: // the cause of a consequence has a line
			rest = append(rest, line)
		}
	}
	for i, s := range v.Symptoms {
		if s.Elsewhere && !slices.Contains(explained, i) {
			lines = append(lines, fmt.Sprintf("%-13s %s · %s · %s", "not explained", s.Name, s.Subject.Name, s.Text))
		}
	}
	lines = append(lines, rest...)
	if len(lines) == 0 {
		return
	}
	p.add("", p.bold("elsewhere on this host"))
	for i, line := range lines {
		if i == max(1, p.detail.others/2) && len(lines) > i+1 {
			p.add("  " + p.dim(fmt.Sprintf("and %d more: -v lists them", len(lines)-i)))
			break
		}
		if shown.Columns(line) > p.Width-2 && !p.Verbose {
			line = shown.Cut(line, p.Width-4) + " …"
		}
		p.add("  " + line)
	}
}
