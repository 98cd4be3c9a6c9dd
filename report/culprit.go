package report

import (
	"fmt"
	"strings"

	"snag/suspects/suspect"
	"snag/verdict"
)

// culprit answers, in the order in which it is read: who, what, since when and how sure, what it did to whom, what to
// do, and only then the evidence.
func (p *page) culprit(e verdict.Entry) {
	p.gap()
	p.spread(p.bold(p.red("CULPRIT"))+"  "+p.bold(capital(e.Suspect.Title)), p.dim(e.Suspect.Name))
	p.answer("  ", "", "", strings.TrimSpace(p.bold(e.Subject.Name)+" "+heldUp(e.Holding)))
	p.answer("  ", "", "", without(e.Text, e.Subject.Name))
	p.answer("  ", "", "  ", p.since(e.Since)+p.dim(" · "+proof(e)))
	p.chain(e)
	p.remedy("  ", e.Remedy)
	p.evidence(e, suspect.For, p.green("+ "))
	p.evidence(e, suspect.Against, p.yellow("− "))
	p.evidence(e, suspect.Missing, p.dim("? "))
}

// mostNamed are the culprits that are named where there is no room for all that is known of them.
const mostNamed = 3

// furtherCulprits names those that the screen has no room for: who, and what it does.
func (p *page) furtherCulprits(all []verdict.Entry) {
	for _, e := range all[:min(len(all), mostNamed)] {
		p.spread(p.bold(p.red("CULPRIT"))+"  "+p.bold(capital(e.Suspect.Title)), p.dim(e.Suspect.Name))
		p.item("  ", "", "  ", p.bold(e.Subject.Name)+" "+without(e.Text, e.Subject.Name))
	}
	p.moreCulprits(len(all) - mostNamed)
	p.add(p.dim("  -v shows all of each culprit"))
}

// culpritNames has a line for each culprit: what, and who.
func (p *page) culpritNames(all []verdict.Entry) {
	for _, e := range all[:min(len(all), 1+mostNamed)] {
		p.answer("  ", p.bold(p.red("CULPRIT"))+"  ", strings.Repeat(" ", len("CULPRIT  ")), capital(e.Suspect.Title)+": "+e.Subject.Name)
	}
	p.moreCulprits(len(all) - 1 - mostNamed)
}

func (p *page) moreCulprits(n int) {
	if n > 0 {
		p.add(p.dim(fmt.Sprintf("  and %s", counted(n, "more culprit", "more culprits"))))
	}
}

// without leaves out the subject with which a text begins, where the line before names it.
func without(text, subject string) string {
	if rest, begins := strings.CutPrefix(text, subject+" "); begins && subject != "" {
		return rest
	}
	return text
}

// remedy prints the parts that there are. The command is one line, however wide, so that
// it can be pasted.
func (p *page) remedy(indent string, r suspect.Remedy) {
	const width = len("in the program  ")
	if r.Now != "" {
		p.add(indent + p.bold(fmt.Sprintf("%-*s", width, "now")) + r.Now)
	}
	if r.Permanently != "" {
		p.answer(indent, p.bold(fmt.Sprintf("%-*s", width, "permanently")), strings.Repeat(" ", width), r.Permanently)
	}
	if r.Program != "" {
		p.answer(indent, p.bold(fmt.Sprintf("%-*s", width, "in the program")), strings.Repeat(" ", width), r.Program)
	}
}

// chain prints the way from the root to the symptom, a step a line. The last is the harm: it is never cut. A subject
// that the line before names is left out.
func (p *page) chain(e verdict.Entry) {
	before := e.Subject.Name
	for i, l := range e.Chain {
		if i == 0 {
			continue
		}
		text := l.Name + ": " + l.Subject.Name + ", " + l.Text
		if l.Subject.Name == before {
			text = l.Name + ": " + without(l.Text, before)
		}
		before = l.Subject.Name
		if l.Telling || l.Coincidence != "" && p.Verbose {
			text += " (in time: " + l.Coincidence + ")"
		}
		p.write("  ", p.bold("→ "), "  ", text, i == len(e.Chain)-1)
	}
}

// inChain: a culprit that is shown has this consequence as a step of its chain, in the same words.
func (p *page) inChain(v *verdict.Verdict, e verdict.Entry) bool {
	for i, c := range v.Here(verdict.Culprit) {
		if i >= p.detail.culprits {
			return false
		}
		for _, l := range c.Chain {
			if l.Name == e.Suspect.Name && l.Subject.Name == e.Subject.Name && l.Text == e.Text {
				return true
			}
		}
	}
	return false
}
