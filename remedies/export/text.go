package export

import (
	"regexp"
	"strings"
	"unicode"

	"snag/remedies/plan"
)

// oneLine makes a text safe for a comment, whatever it holds: without line ends and
// control characters.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) || r == '\u2028' || r == '\u2029'
	}), " ")
}

// comment adds one line of comment.
func comment(b *strings.Builder, text string) {
	b.WriteString("# " + oneLine(text) + "\n")
}

// head begins a file: who made it, from what, for what.
func (n in) head(b *strings.Builder) {
	b.WriteString(Mark + " (snag tune) from the plan " + n.name + "\n")
	if n.plan.For.Text != "" {
		comment(b, "For: "+n.plan.For.Text)
	}
	if n.plan.Host != "" || n.plan.Kernel != "" {
		comment(b, "Made for the host "+n.plan.Host+", kernel "+n.plan.Kernel)
	}
}

// about tells of a change what a reviewer wants to know.
func about(b *strings.Builder, c plan.Change) {
	comment(b, c.Target.String()+": "+c.Now+" -> "+c.Then)
	if c.Why != "" {
		comment(b, "Why: "+c.Why)
	}
	if c.Risk != "" {
		comment(b, "Risk: "+c.Risk)
	}
	if c.Needs != "" {
		comment(b, "Needs: "+c.Needs)
	}
	if source := sourceOf(c); source != "" {
		comment(b, "Source: "+source)
	}
}

// leftOut lists at the end of a file what it does not hold.
func leftOut(b *strings.Builder, all []Left) {
	if len(all) == 0 {
		return
	}
	b.WriteString("#\n# Not held here:\n")
	for _, l := range all {
		comment(b, l.Change.Target.String()+" = "+l.Change.Then+": "+l.Why)
	}
}

// shQuote is a word as a POSIX shell takes it, whatever it holds.
func shQuote(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// unitQuote is a word of a command line in a unit file: quoted, with neither
// specifiers (%) nor variables ($) (systemd.service(5), "Command lines").
func unitQuote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	r := strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`)
	return `"` + r.Replace(word) + `"`
}

// plainWord needs no quotes in any format.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,@+-]+$`)

// tmpfilesQuote is a field of a line for systemd-tmpfiles: as in a unit, without
// variables (tmpfiles.d(5)).
func tmpfilesQuote(field string) string {
	if plainWord.MatchString(field) {
		return field
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(field) + `"`
}
