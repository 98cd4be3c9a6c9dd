// Package report shows a verdict: as text for a terminal, as JSON for programs.
package report

import (
	"io"
	"reflect"
	"slices"
	"time"

	"snag/recording"
	"snag/suspects/suspect"
	"snag/verdict"
)

// DocumentVersion is the version of the JSON document. Fields may be added under
// one version; a field that changes its meaning or goes away makes a new one.
const DocumentVersion = 2

// Document is a verdict as other programs read it. Its schema is
// report/verdict.schema.json; docs/json.md describes it.
type Document struct {
	Version int    `json:"version"`
	Snag    string `json:"snag"`
	Host    string `json:"host"`
	Kernel  string `json:"kernel"`
	// Of says of what the recording is in words: the host and its kernel, or the files
	// that it was made of.
	Of        string            `json:"of,omitempty"`
	Window    Window            `json:"window"`
	Recording string            `json:"recording,omitempty"`
	Target    *recording.Target `json:"target,omitempty"`
	// Standing is the answer in a word: culprit, unproved, not-enough-seen, error-answers, slow or nothing-wrong.
	Standing string    `json:"standing,omitempty"`
	Symptoms []Symptom `json:"symptoms"`
	// Foremost is worse than all that a culprit leads to, and no cause was proved.
	Foremost *Foremost `json:"foremost,omitempty"`
	// Requests are where the time of requests went, those with the most open first.
	Requests []Requests `json:"requests,omitempty"`
	// Loads are snag's own requests, which were sent meanwhile.
	Loads []Load `json:"loads,omitempty"`
	// Experiments are what snag eliminate tried.
	Experiments []Experiment `json:"experiments,omitempty"`
	Verdict     []Entry      `json:"verdict"`
	Abstained   string       `json:"abstained,omitempty"`
	Next        string       `json:"next_measurement,omitempty"`
	Warnings    []string     `json:"warnings"`
	Coverage    []Coverage   `json:"coverage"`
	Closer      *Closer      `json:"closer,omitempty"`
	// Files are what the recording was made of, where others wrote it.
	Files []File `json:"files,omitempty"`
}

// Foremost is a symptom that is answered before any culprit.
type Foremost struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
	Next    string `json:"next_measurement"`
}

// File is one of the files that a recording was made of.
type File struct {
	Name   string   `json:"name"`
	Format string   `json:"format"`
	Host   string   `json:"host,omitempty"`
	First  *string  `json:"first"` // null: it has no times
	Last   *string  `json:"last"`
	Offset float64  `json:"offset_seconds"` // that was added to its times
	Doubts []string `json:"doubts"`         // what was guessed of its clock and host
}

func files(m recording.Manifest) (out []File) {
	for _, f := range m.Files {
		out = append(out, File{f.Name, f.Format, f.Host, optional(f.First), optional(f.Last), f.Offset, append([]string{}, f.Doubts...)})
	}
	return out
}

// Window is the span that was recorded, RFC 3339, UTC.
type Window struct {
	Start   string  `json:"start"`
	End     string  `json:"end"`
	Seconds float64 `json:"seconds"`
}

// Interval is a span of time, RFC 3339; End is null while it goes on.
type Interval struct {
	Start string  `json:"start"`
	End   *string `json:"end"`
}

// Symptom is what failed as a user feels it.
type Symptom struct {
	Name       string     `json:"name"`
	Subject    string     `json:"subject"`
	SubjectRef SubjectRef `json:"subject_ref"`
	Onset      string     `json:"onset"`
	Text       string     `json:"text"`
	Share      *float64   `json:"share"` // of the subject's traffic or time; null where nobody can tell
	Amount     float64    `json:"amount"`
	Unit       string     `json:"unit"`
	Active     []Interval `json:"active"`
	// Elsewhere: it is not the target's, that was named.
	Elsewhere bool `json:"elsewhere,omitempty"`
	// Unexplained: it is, and no culprit leads to it.
	Unexplained bool `json:"unexplained,omitempty"`
}

// Entry is one suspect on one subject.
type Entry struct {
	ID      string `json:"id"`
	Suspect string `json:"suspect"`
	Title   string `json:"title"`
	State   string `json:"state"`
	// Elsewhere: neither it nor the harm that it explains is the target's, that was named.
	Elsewhere  bool        `json:"elsewhere,omitempty"`
	Subject    string      `json:"subject"`
	SubjectRef *SubjectRef `json:"subject_ref"`
	// Beyond is the address of another host that a culprit's cause is at or behind; absent of one on this host.
	Beyond     string  `json:"beyond,omitempty"`
	Text       string  `json:"text"`
	Confidence float64 `json:"confidence"`
	// Proof is what an accusation rests on, in the words of the text: "1 proof, 2 strong signs"; absent of what is not
	// accused.
	Proof string `json:"proof,omitempty"`
	// Holds is what it holds up of the requests whose time was booked; absent where nobody can tell.
	Holds       *Holds     `json:"holds,omitempty"`
	Since       *string    `json:"since"`
	Active      []Interval `json:"active"`
	Harm        *Harm      `json:"harm"`
	Evidence    []Evidence `json:"evidence"`
	ExplainedBy *string    `json:"explained_by"`
	LeadsTo     []string   `json:"leads_to"`
	Chain       []Link     `json:"chain"`
	Remedy      *Remedy    `json:"remedy"`
	Next        *string    `json:"next_measurement"`
	// Settings and Calls are the remedy as data: what a plan would set (snag tune plan),
	// and what only a program or a person can do.
	Settings []Setting `json:"settings,omitempty"`
	Calls    []Call    `json:"calls,omitempty"`
}

// Holds is what an entry holds up.
type Holds struct {
	Requests float64 `json:"requests"`          // that wait because of it at a moment, on average
	Share    float64 `json:"share"`             // of all that is held up of those whom it hurts
	AtMost   bool    `json:"at_most,omitempty"` // of most of that nobody saw what it waited for
}

// Remedy is what helps, in three parts; null are those that are not known.
type Remedy struct {
	Now         *string `json:"now"`         // one command for a shell
	Permanently *string `json:"permanently"` // where the setting is kept
	Program     *string `json:"program"`     // what a developer changes
}

func remedy(r suspect.Remedy) *Remedy {
	if !r.Given() {
		return nil
	}
	return &Remedy{text(r.Now), text(r.Permanently), text(r.Program)}
}

// Setting is a change that a plan would make.
type Setting struct {
	What  string `json:"what"` // sysctl net.core.somaxconn → 4096
	Why   string `json:"why"`
	Risk  string `json:"risk,omitempty"`
	Needs string `json:"needs,omitempty"`
}

// Call is what a program or a person would do.
type Call struct {
	Who string `json:"who"`
	Do  string `json:"do"`
	Why string `json:"why"`
}

// Harm is what a finding cost, in its symptom's unit.
type Harm struct {
	Symptom string  `json:"symptom"`
	Amount  float64 `json:"amount"`
	Of      float64 `json:"of"`
	Unit    string  `json:"unit"`
	Text    string  `json:"text"`
}

// known is a share, nil where nobody can tell.
func known(share float64) *float64 {
	if share == 0 {
		return nil
	}
	return &share
}

// Evidence is one piece, with its side, grade, number, unit and source. Value is
// null where there is no number: what is missing is not zero.
type Evidence struct {
	Side   string   `json:"side"`
	Grade  string   `json:"grade"`
	Text   string   `json:"text"`
	Value  *float64 `json:"value"`
	Unit   string   `json:"unit"`
	Source string   `json:"source"`
	Doubt  string   `json:"doubt,omitempty"`
	// Series selects the series behind it: docs/json.md has the grammar.
	Series []string `json:"series,omitempty"`
}

// Link is a step of the chain from a culprit to a symptom.
type Link struct {
	Name        string `json:"name"`
	Subject     string `json:"subject"`
	Text        string `json:"text"`
	Onset       string `json:"onset"`
	Coincidence string `json:"coincidence,omitempty"`
	// Telling: the coincidence means something: enough onsets, and not a cause that
	// fills the window.
	Telling bool `json:"telling,omitempty"`
	// InTime is the coincidence in numbers.
	InTime *InTime `json:"in_time,omitempty"`
}

// InTime is how well onsets of an effect fall on a cause, and how well by chance.
type InTime struct {
	Onsets  int     `json:"onsets"`
	Hits    int     `json:"hits"`    // in the cause, or within the lag after it
	Chance  float64 `json:"chance"`  // hits that chance gives on average
	P       float64 `json:"p"`       // share of shifts in time with as many hits or more
	Covered float64 `json:"covered"` // share of the window that the cause and the lag fill
	Exact   bool    `json:"exact"`   // all shifts were tried
}

func inTime(c *verdict.Coincidence) *InTime {
	if c == nil {
		return nil
	}
	return &InTime{c.Onsets, c.Hits, c.Chance, c.P, c.Covered, c.Exact}
}

// Coverage says what a probe measured, lost and cost, or why it could not run.
type Coverage struct {
	Probe string  `json:"probe"`
	State string  `json:"state"`
	Since *string `json:"since"`
	Lost  uint64  `json:"lost"`
	Late  float64 `json:"late_seconds"`
	Cost  float64 `json:"cost_cpu_seconds"`
	Why   string  `json:"why"`
	Cure  string  `json:"cure,omitempty"`
}

// WriteJSON writes the verdict's document, indented, with a newline at its end.
func WriteJSON(w io.Writer, v *verdict.Verdict) error {
	return WriteValue(w, NewDocument(v))
}

// NewDocument turns a verdict into its document.
func NewDocument(v *verdict.Verdict) Document {
	m := v.Recording.Manifest
	d := Document{
		Version: DocumentVersion, Snag: m.Snag, Host: m.Host, Kernel: m.Kernel, Of: subjectOf(m), Files: files(m), Recording: v.Recording.Dir,
		Window:   Window{stamp(m.Start), stamp(m.End), v.Recording.Length().Seconds()},
		Symptoms: []Symptom{}, Verdict: []Entry{}, Coverage: coverage(v.Recording), Warnings: append([]string{}, v.Warnings...),
		Standing: string(v.Standing()), Closer: closerOf(v.Recording),
	}
	d.Abstained, d.Next = v.Why()
	if t := m.Target; t.PID != 0 || t.Unit != "" || t.Port != 0 || t.Netns != "" || t.Container != "" || t.Pod != "" {
		d.Target = &t
	}
	if sym, next, ok := v.Foremost(); ok {
		d.Foremost = &Foremost{sym.Subject.Name, sym.Text, next}
	}
	unexplained := v.Unexplained()
	for i, s := range v.Symptoms {
		d.Symptoms = append(d.Symptoms, Symptom{s.Name, s.Subject.Name, subjectRef(v, s.Subject), stamp(s.Onset), s.Text, known(s.Share), s.Amount, s.Unit, intervals(s.Active), s.Elsewhere, slices.Contains(unexplained, i)})
	}
	d.Requests, d.Loads, d.Experiments = requests(v), loads(v), experiments(v.Recording)
	byID := map[string]string{}
	for _, e := range v.Entries {
		byID[e.ID] = e.Suspect.Name
	}
	for _, e := range v.Entries {
		row := entry(e, byID)
		if e.Subject.Kind != "" {
			ref := subjectRef(v, e.Subject)
			row.SubjectRef = &ref
		}
		row.Beyond = v.Beyond(e)
		d.Verdict = append(d.Verdict, row)
	}
	finite(reflect.ValueOf(&d).Elem())
	return d
}

func entry(e verdict.Entry, byID map[string]string) Entry {
	out := Entry{
		ID: e.ID, Suspect: e.Suspect.Name, Title: e.Suspect.Title, State: string(e.State), Elsewhere: e.Elsewhere, Subject: e.Subject.Name,
		Text: e.Text, Confidence: e.Confidence, Since: optional(e.Since),
		Active: intervals(e.Active), Evidence: []Evidence{}, LeadsTo: append([]string{}, e.LeadsTo...), Chain: []Link{},
		ExplainedBy: text(byID[e.ExplainedBy]), Remedy: remedy(e.Remedy), Next: text(e.Next),
	}
	if e.State == verdict.Culprit {
		out.Proof = proof(e)
	}
	if h := e.Holding; h != nil {
		out.Holds = &Holds{h.Requests, h.Share, h.AtMost}
	}
	for _, s := range e.Settings {
		out.Settings = append(out.Settings, Setting{s.String(), s.Why, s.Risk, s.Needs})
	}
	for _, c := range e.Calls {
		out.Calls = append(out.Calls, Call{c.Whose(), c.Do, c.Why})
	}
	if e.Harm.Amount > 0 {
		out.Harm = &Harm{e.Harm.Symptom, e.Harm.Amount, e.Harm.Of, e.Harm.Unit, e.Harm.Text}
	}
	for _, p := range e.Evidence {
		piece := Evidence{Side: string(p.Side), Grade: grades[p.Grade], Text: p.Text, Unit: p.Unit, Source: p.Source.String(), Doubt: p.Doubt, Series: p.Series}
		if p.Side != suspect.Missing {
			value := p.Value
			piece.Value = &value
		}
		out.Evidence = append(out.Evidence, piece)
	}
	for _, l := range e.Chain {
		out.Chain = append(out.Chain, Link{l.Name, l.Subject.Name, l.Text, stamp(l.Onset), l.Coincidence, l.Telling, inTime(l.InTime)})
	}
	return out
}

func intervals(all []recording.Interval) []Interval {
	out := []Interval{}
	for _, i := range all {
		out = append(out, Interval{stamp(i.Start), optional(i.End)})
	}
	return out
}

var grades = map[suspect.Grade]string{suspect.Weak: "weak", suspect.Strong: "strong", suspect.Decisive: "decisive"}

func stamp(t recording.Time) string { return t.Wall().Format(time.RFC3339Nano) }

func optional(t recording.Time) *string {
	if t == 0 {
		return nil
	}
	s := stamp(t)
	return &s
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
