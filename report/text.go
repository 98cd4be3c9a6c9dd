package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
	"snag/verdict"
)

// Options of the text report.
type Options struct {
	Color   bool
	Verbose bool // everything, however long
	Width   int  // columns; 0 is 100
	Height  int  // rows of a terminal that it must fit in; 0 is 40 lines; ignored when Verbose
	// CPU is what this process has taken, s, where it made the recording itself: the verdict
	// is part of what it cost then. 0: it did not.
	CPU float64
}

// detail is how much is shown: each level shows less, until the screen holds it.
type detail struct {
	culprits, evidence, symptoms, others int
	wrap                                 bool // long sentences on as many lines as they need
	roomy                                bool // empty lines between the parts, and bars of where requests' time goes
}

var details = []detail{
	{3, 8, 4, 8, true, true},
	{3, 5, 3, 6, true, true},
	{2, 4, 3, 5, true, true},
	{2, 3, 2, 4, true, true},
	{2, 2, 2, 3, true, true},
	{2, 2, 1, 2, false, true},
	{1, 2, 1, 2, false, true},
	{1, 1, 1, 1, false, true},
	{1, 2, 1, 1, false, false},
	{1, 1, 1, 1, false, false},
	{1, 1, 1, 0, false, false},
	{1, 0, 1, 0, false, false},
}

// everything is the level of Verbose.
var everything = detail{1 << 20, 1 << 20, 1 << 20, 1 << 20, true, true}

// WriteText writes the verdict for a person: the culprit first, then the way to
// the symptom, the evidence, the remedy, and what else was seen, cleared and not
// seen. It fits in one screen unless Verbose.
func WriteText(w io.Writer, v *verdict.Verdict, o Options) error {
	if o.Width == 0 {
		o.Width = 100
	}
	taken := func(p *page) int { return p.rows() }
	if o.Height == 0 {
		o.Height, taken = 40, func(p *page) int { return len(p.lines) }
	}
	levels := details
	if o.Verbose {
		levels = []detail{everything}
	}
	var p *page
	for _, d := range levels {
		p = &page{Options: o, detail: d, paint: palette(o.Color), began: v.Recording.Manifest.Start, files: len(v.Recording.Manifest.Files) > 0, days: days(v.Recording.Manifest)}
		p.verdict(v)
		if taken(p) <= o.Height {
			break
		}
	}
	return p.print(w)
}

func (p *page) verdict(v *verdict.Verdict) {
	r := v.Recording
	p.head(v)
	culprits := v.Here(verdict.Culprit)
	for _, warning := range v.Warnings {
		p.item("", p.yellow("! "), "  ", warning)
	}
	p.loadHead(v)
	p.triedHead(r)
	p.headline(v, culprits)
	p.foremost(v, culprits)
	p.symptoms(v, len(culprits) > 0)
	for i, e := range culprits {
		if i == p.detail.culprits {
			p.furtherCulprits(culprits[i:])
			break
		}
		p.culprit(e)
	}
	p.twoSides(r)
	p.conversations(r)
	p.inFiles(r)
	p.load(v)
	p.parties(v)
	p.others(v)
	p.elsewhere(v)
	p.notSeen(v)
	p.ruledOut(v)
	p.cleared(v)
	p.foot(r)
}

func (p *page) head(v *verdict.Verdict) {
	m := v.Recording.Manifest
	target := v.Target()
	if target != "" {
		target = " · of " + target
	}
	p.add(p.dim(fmt.Sprintf("%s · %s%s, %s%s", subjectOf(m), units.Seconds(v.Recording.Length()), lengthWord(m), spanOf(m), target)))
	if p.Verbose {
		for _, f := range filesText(m) {
			p.item("", p.dim(f[0]+"  "), "  ", p.dim(f[1]))
		}
	}
}

// unsure are the first lines of the standings that are neither a culprit nor nothing wrong.
var unsure = map[verdict.Standing]string{
	verdict.Unproved: "NO CULPRIT NAMED%s",
	verdict.Blind:    "NOT ENOUGH SEEN to say that nothing is wrong%s",
	verdict.Erring:   "NO FAULT SEEN%s, BUT ERROR ANSWERS",
	verdict.Slow:     "NO FAULT SEEN%s, BUT SLOW ANSWERS",
}

// headline answers for the target, by its name, where one was given.
func (p *page) headline(v *verdict.Verdict, culprits []verdict.Entry) {
	with := ""
	if v.Target() != "" {
		with = " with " + v.Target()
	}
	nothing := p.bold(p.green("NOTHING WRONG"+with)) + " seen"
	if l := v.Ledger; l != nil && len(l.Parties) == 0 && len(v.Recording.Manifest.Files) == 0 && len(v.Scene.Streams) == 0 {
		nothing += " (and no requests)" // nobody was hurt who did not ask
	}
	switch {
	case len(culprits) > 0:
		return
	case unsure[v.Standing()] != "":
		text, next := v.Why()
		if _, cut := v.Cut(); cut && v.Standing() == verdict.Blind {
			with += ": the view is cut"
		}
		p.add("")
		p.answer("", "", "", p.bold(p.yellow(fmt.Sprintf(unsure[v.Standing()], with))))
		p.answer("  ", "", "", text)
		if next != "" {
			p.answer("  ", p.bold("next  "), "      ", next)
		}
	case len(v.With(verdict.NotSeen)) > 0 && len(v.Recording.Manifest.Files) > 0:
		p.add("")
		p.answer("", "", "", nothing+fmt.Sprintf(" in these files; %s could not be judged by them", suspectCount(v.With(verdict.NotSeen))))
		p.risks(v)
	case len(v.With(verdict.NotSeen)) > 0:
		p.add("")
		p.answer("", "", "", nothing+fmt.Sprintf(", but %s could not be judged: see below", suspectCount(v.With(verdict.NotSeen))))
		p.risks(v)
	case len(v.Here(verdict.Risk)) > 0:
		p.add("")
		p.answer("", "", "", nothing)
		p.risks(v)
	default:
		p.add("")
		p.answer("", "", "", nothing+": no symptom, and no suspect with harm")
	}
}

// risks names what is proved and affects nobody yet: who reads the first lines alone has to know of it.
func (p *page) risks(v *verdict.Verdict) {
	all := v.Here(verdict.Risk)
	for _, e := range all[:min(len(all), mostNamed)] {
		p.answer("  ", p.bold(p.yellow("RISK"))+"  ", "      ", capital(e.Suspect.Title)+": "+e.Subject.Name)
	}
	if n := len(all) - mostNamed; n > 0 {
		p.add(p.dim(fmt.Sprintf("  and %s", counted(n, "more risk", "more risks"))))
	}
}

// foremost answers for what hurts most before it describes the culprits of less. Several of them are named here, since
// a small terminal has no room for the second below.
func (p *page) foremost(v *verdict.Verdict, culprits []verdict.Entry) {
	sym, next, ok := v.Foremost()
	if !ok {
		return
	}
	p.add("")
	p.answer("", "", "", p.bold(p.yellow("NOT EXPLAINED"))+"  "+p.bold(sym.Subject.Name)+": "+sym.Text)
	if len(culprits) > 1 {
		p.answer("  ", "", "", "no cause was proved; these cause less:")
		p.culpritNames(culprits)
	} else {
		p.answer("  ", "", "", "no cause was proved; the culprit below causes less")
	}
	p.answer("  ", p.bold("next  "), "      ", next)
}

func (p *page) symptoms(v *verdict.Verdict, named bool) {
	all := slices.DeleteFunc(slices.Clone(v.Symptoms), func(s scene.Symptom) bool { return s.Elsewhere && !p.Verbose })
	if len(all) == 0 || named && !p.Verbose {
		return // a culprit's chain ends in its symptom
	}
	p.add("", p.bold("symptoms"))
	for i, s := range all {
		if i == p.detail.symptoms {
			p.add(p.dim(fmt.Sprintf("  and %d more: -v lists them", len(all)-i)))
			break
		}
		p.answer("  ", "", "  ", fmt.Sprintf("%s · %s · %s · %s", s.Name, s.Subject.Name, s.Text, p.since(s.Onset)))
	}
}

func (p *page) evidence(e verdict.Entry, side suspect.Side, mark string) {
	var pieces []suspect.Evidence
	for _, piece := range e.Evidence {
		if piece.Side != side || side == suspect.Missing && !p.Verbose && strings.HasSuffix(piece.Text, recording.NotInFiles) {
			continue // the headline says of how many suspects the files tell nothing
		}
		pieces = append(pieces, piece)
	}
	most := p.detail.evidence
	if side != suspect.For {
		most = (most + 1) / 2
		if most == 0 {
			return // the number of doubts is in the line above
		}
	}
	for i, piece := range strongestFirst(pieces) {
		if i == most {
			p.add("    " + p.dim(rest(len(pieces), i)))
			break
		}
		text := piece.Text
		if piece.Source.String() != "" && side != suspect.Missing {
			text += " " + p.dim("["+piece.Source.String()+"]")
		}
		if piece.Doubt != "" {
			text += " " + p.yellow("(doubt: "+piece.Doubt+")")
		}
		p.item("    ", mark, "  ", text)
	}
}

// rest says how much evidence is not shown.
func rest(all, shown int) string {
	if shown == 0 {
		return units.Plural(all, "piece") + " of evidence: -v"
	}
	return fmt.Sprintf("%d more: -v", all-shown)
}

func strongestFirst(all []suspect.Evidence) []suspect.Evidence {
	var out []suspect.Evidence
	for _, g := range []suspect.Grade{suspect.Decisive, suspect.Strong, suspect.Weak} {
		for _, e := range all {
			if e.Grade == g {
				out = append(out, e)
			}
		}
	}
	return out
}

func (p *page) others(v *verdict.Verdict) {
	if p.detail.others == 0 {
		p.otherCounts(v)
		return
	}
	first := true
	for _, state := range otherStates {
		shown := p.told(v, state)
		for i, e := range shown {
			if first {
				p.gap()
				first = false
			}
			if i == p.detail.others {
				p.add("  " + p.dim(fmt.Sprintf("and %d more (%s): -v lists them", len(shown)-i, state)))
				break
			}
			text := fmt.Sprintf("%s · %s · %s", e.Suspect.Name, e.Subject.Name, e.Text)
			if e.ExplainedBy != "" {
				text += " · explained by " + strings.SplitN(e.ExplainedBy, "#", 2)[0]
			}
			p.item("", p.yellow(fmt.Sprintf("%-14s", state)), strings.Repeat(" ", 14), text)
			if p.Verbose {
				p.evidence(e, suspect.For, p.green("+ "))
				p.evidence(e, suspect.Against, p.yellow("− "))
				p.remedy("    ", e.Remedy)
			}
		}
	}
}

// otherStates are those of entries that are named and not accused.
var otherStates = []verdict.State{verdict.Contributing, verdict.Consequence, verdict.Risk}

// told are the entries of a state that are not a step of a culprit's chain.
func (p *page) told(v *verdict.Verdict, state verdict.State) []verdict.Entry {
	all := v.Here(state)
	if state == verdict.Consequence && !p.Verbose {
		return slices.DeleteFunc(slices.Clone(all), func(e verdict.Entry) bool { return p.inChain(v, e) })
	}
	return all
}

// otherCounts is what others is where there is room for one line.
func (p *page) otherCounts(v *verdict.Verdict) {
	var parts []string
	for _, state := range otherStates {
		if n := len(p.told(v, state)); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if len(parts) > 0 {
		p.item("", p.dim(fmt.Sprintf("%-14s", "also")), strings.Repeat(" ", 14), p.dim(strings.Join(parts, ", ")+" (-v lists them)"))
	}
}

// foot says what the observation cost and where the recording is: an instrument
// that changes what it measures must show it.
func (p *page) foot(r *recording.Recording) {
	late, lost := 0.0, uint64(0)
	for _, c := range r.Coverage {
		late, lost = max(late, c.Late), lost+c.Lost
	}
	load := ""
	if asking := r.LoadCPU(); asking > 0 {
		load = fmt.Sprintf(", %.2f s of it for the load", asking)
	}
	switch {
	case len(r.Manifest.Files) == 0:
		text := fmt.Sprintf("%.2f s CPU%s, latest tick %.2f s late, %s events lost", itself(r, p.CPU), load, late, units.Count(float64(lost)))
		p.item("", p.dim(fmt.Sprintf("%-14s", "snag itself")), strings.Repeat(" ", 14), p.dim(text))
	case lost > 0 && recordingsOnly(r):
		p.add(p.dim(fmt.Sprintf("%-14s%s while the hosts recorded (snag show)", "lost", units.Plural(int(lost), "event"))))
	case lost > 0:
		p.add(p.dim(fmt.Sprintf("%-14s%s lines or records of the files were not understood or not whole (snag show)", "not read", units.Count(float64(lost)))))
	}
	p.clocks(r)
	if c := closerOf(r); c != nil && p.detail.roomy {
		p.item("", p.dim(fmt.Sprintf("%-14s", "closer look")), strings.Repeat(" ", 14), p.dim(c.Sentence(r)))
	}
	if r.Dir != "" {
		p.add(p.dim(fmt.Sprintf("%-14s%s (snag show, snag judge)", "recording", r.Dir)))
	}
}

// recordingsOnly: all files are recordings of snag's, in which nothing is not understood.
func recordingsOnly(r *recording.Recording) bool {
	return !slices.ContainsFunc(r.Manifest.Files, func(f recording.File) bool { return f.Format != "recording" })
}

// firstTick: what acts within it acted when the recording began, as far as
// samples a second apart can tell.
const firstTick = 1500 * time.Millisecond

func (p *page) since(t recording.Time) string {
	if t < p.began.Add(firstTick) {
		if p.files {
			return "already so where the files begin, at " + p.clock(p.began)
		}
		return "already so when the recording began at " + p.clock(p.began)
	}
	return "since " + p.clock(t)
}

func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// clock is a time of day, with the day where the recording is of several.
func (p *page) clock(t recording.Time) string {
	if p.days {
		return t.Wall().Format("2006-01-02 15:04:05") + " UTC"
	}
	return clock(t)
}

func days(m recording.Manifest) bool {
	return m.Start.Wall().Format("2006-01-02") != m.End.Wall().Format("2006-01-02")
}

func clock(t recording.Time) string { return t.Wall().Format("15:04:05") + " UTC" }
