package agent

import (
	"fmt"
	"strings"

	"snag/internal/shown"
	"snag/report"
)

// page is a text of lines. What comes from the examined host passes through add, where nothing can begin a line of its
// own or hide a character.
type page struct{ strings.Builder }

func (p *page) add(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.WriteString(shown.Text(strings.ReplaceAll(text, "\n", " ")) + "\n")
}

// textOf is an answer for a model to read: the verdict, who suffers, findings with their evidence and remedy, what is
// not known, where the rest is.
func textOf(a Answer) string {
	var p page
	p.add("%s", a.Answer)
	p.add("recording %s: host %s, %s, %.0f s", a.Recording, a.Host, a.Window.Start, a.Window.Seconds)
	for _, s := range a.Symptoms {
		p.add("symptom %s: %s: %s%s", s.Name, s.Subject, s.Text, elsewhere(s.Elsewhere))
	}
	for i, e := range a.Findings {
		p.finding(i+1, e)
	}
	for _, o := range a.Others {
		p.add("%s %s: %s: %s%s", o.State, o.Suspect, o.Subject, o.Text, elsewhere(o.Elsewhere))
	}
	if a.Why != "" {
		p.add("why no culprit: %s", a.Why)
	}
	if a.Next != "" {
		p.add("next measurement: %s", a.Next)
	}
	for _, b := range a.Blind {
		p.add("not measured: %s (%s): %s%s", strings.Join(b.Probes, " "), b.State, b.Why, after("; ", b.Cure))
	}
	for _, w := range a.Warnings {
		p.add("warning: %s", w)
	}
	if len(a.NotSeen) > 0 {
		p.add("not seen: %s", strings.Join(a.NotSeen, " "))
	}
	p.add("cleared: %d suspects, measured and innocent", len(a.Cleared))
	if len(a.LeftOut) > 0 {
		p.add("left out here: %s", strings.Join(a.LeftOut, ", "))
	}
	p.add("the rest: %s", a.URI)
	return p.String()
}

func (p *page) finding(n int, e report.Entry) {
	p.add("")
	p.add("%d. %s %s (%s%s): %s", n, strings.ToUpper(e.State), e.Suspect, e.Title, after(", ", e.Proof), e.Subject)
	p.add("   %s", e.Text)
	if e.Harm != nil {
		p.add("   harm: %s (%s)", e.Harm.Text, e.Harm.Symptom)
	}
	if e.ExplainedBy != nil {
		p.add("   explained by: %s", *e.ExplainedBy)
	}
	for _, v := range e.Evidence {
		p.add("   %s, %s: %s [%s]%s", v.Side, v.Grade, v.Text, v.Source, after("; doubt: ", v.Doubt))
	}
	if r := e.Remedy; r != nil {
		p.optional("remedy now, a command for a person to run: ", r.Now)
		p.optional("remedy permanently: ", r.Permanently)
		p.optional("remedy in the program: ", r.Program)
	}
	p.optional("next measurement: ", e.Next)
	if len(e.Settings) > 0 {
		p.add("   plan has what a person can apply: %s", e.Settings[0].What)
	}
	p.add("")
}

func (p *page) optional(what string, text *string) {
	if text != nil {
		p.add("   %s%s", what, *text)
	}
}

func after(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

func elsewhere(is bool) string {
	if is {
		return " (not the target's)"
	}
	return ""
}

// firstLines keeps whole lines, and says how many are left out.
func firstLines(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const room = 60
	end := strings.LastIndexByte(text[:most-room], '\n') + 1
	if end == 0 {
		return cut(text, most/4) // a character has four bytes at most
	}
	return text[:end] + fmt.Sprintf("… %d more lines\n", strings.Count(text[end:], "\n"))
}
