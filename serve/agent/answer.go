package agent

import (
	"encoding/json"
	"fmt"
	"slices"

	"snag/internal/mcp"
	"snag/internal/shown"
	"snag/recording"
	"snag/report"
)

// Answer is a verdict as a tool returns it: the rows of the document that find --json writes (docs/json.md), the most
// important ones in full, the others in a line.
type Answer struct {
	Standing  string           `json:"standing" doc:"culprit, unproved, not-enough-seen, error-answers, slow or nothing-wrong"`
	Answer    string           `json:"answer" doc:"the verdict in a sentence"`
	Recording string           `json:"recording" doc:"the recording's ID: an argument of judge, compare and plan"`
	Path      string           `json:"path" doc:"where the recording is on the host"`
	URI       string           `json:"uri" doc:"resource: the whole verdict as JSON"`
	Host      string           `json:"host"`
	Window    report.Window    `json:"window"`
	Symptoms  []report.Symptom `json:"symptoms" doc:"what clients or streams suffered"`
	Foremost  *report.Foremost `json:"foremost,omitempty" doc:"a symptom that is worse than all that a culprit explains"`
	Findings  []report.Entry   `json:"findings" doc:"culprits, then what contributes, with evidence and remedy"`
	Others    []Other          `json:"others" doc:"consequences, risks, and what does not concern the target"`
	Cleared   []string         `json:"cleared" doc:"suspects that were measured and are innocent"`
	NotSeen   []string         `json:"not_seen" doc:"suspects of which too little was measured to say anything"`
	Blind     []Blind          `json:"not_measured" doc:"probes that did not run or saw a part only"`
	Why       string           `json:"abstained,omitempty" doc:"why no culprit is named"`
	Next      string           `json:"next_measurement,omitempty" doc:"the measurement that would tell"`
	Warnings  []string         `json:"warnings"`
	LeftOut   []string         `json:"left_out" doc:"what the resources have besides"`
}

// Other is a finding in a line.
type Other struct {
	ID        string `json:"id"`
	Suspect   string `json:"suspect"`
	State     string `json:"state"`
	Subject   string `json:"subject"`
	Text      string `json:"text"`
	Elsewhere bool   `json:"elsewhere" doc:"it is not part of the target, and does not explain its harm"`
}

// Blind are probes that could not measure all, for one reason.
type Blind struct {
	Probes []string `json:"probes"`
	State  string   `json:"state" doc:"partial, unavailable or failed"`
	Why    string   `json:"why"`
	Cure   string   `json:"cure,omitempty"`
}

// mostBytes bounds each half of an answer: the text and the structured one.
const mostBytes = 12_000

// size bounds what an answer holds of each kind.
type size struct{ findings, evidence, others, symptoms, runes int }

// sizes are tried in turn until an answer is within mostBytes.
var sizes = []size{{6, 8, 12, 6, 600}, {4, 5, 8, 4, 400}, {2, 4, 5, 3, 300}, {1, 3, 3, 2, 200}, {1, 1, 1, 1, 100}}

// result is the answer of a tool on a recording's verdict.
func result(d *report.Document, k *kept) (mcp.Result, error) {
	var r mcp.Result
	for _, s := range sizes {
		a := answerOf(d, k, s)
		structured, err := written(a)
		if err != nil {
			return r, err
		}
		r = mcp.Result{Text: textOf(a), Structured: structured, Links: []mcp.Resource{verdictResource(k)}}
		if len(r.Text) <= mostBytes && len(r.Structured) <= mostBytes {
			break
		}
	}
	r.Text = firstLines(r.Text, mostBytes)
	return r, nil
}

// written is a value as JSON of which every text can be shown as it is.
func written(v any) (json.RawMessage, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return shown.InJSON(b), nil
}

func answerOf(d *report.Document, k *kept, s size) Answer {
	a := Answer{
		Standing: d.Standing, Recording: k.ID, Path: k.Path, URI: k.uri("verdict.json"), Host: d.Host, Window: d.Window,
		Symptoms: slices.Clone(d.Symptoms), Foremost: d.Foremost, Findings: []report.Entry{}, Others: []Other{}, Blind: []Blind{},
		Cleared: suspectsIn(d, "cleared"), NotSeen: suspectsIn(d, "not-seen"), Why: d.Abstained, Next: d.Next,
		Warnings: slices.Clone(d.Warnings), LeftOut: []string{},
	}
	a.Answer = sentence(d)
	for _, e := range d.Verdict {
		switch {
		case !e.Elsewhere && (e.State == "culprit" || e.State == "contributing"):
			a.Findings = append(a.Findings, e)
		case e.State != "cleared" && e.State != "not-seen":
			a.Others = append(a.Others, Other{e.ID, e.Suspect, e.State, e.Subject, e.Text, e.Elsewhere})
		}
	}
	for _, c := range d.Coverage {
		a.blind(c)
	}
	a.fit(s)
	return a
}

// blind notes what a probe could not measure. Those with one cause, such as a missing privilege, share a row.
func (a *Answer) blind(c report.Coverage) {
	if c.State == recording.CoverageOK || c.State == recording.CoverageOff {
		return
	}
	for i, b := range a.Blind {
		if b.State == c.State && b.Why == c.Why && b.Cure == c.Cure {
			a.Blind[i].Probes = append(b.Probes, c.Probe)
			return
		}
	}
	a.Blind = append(a.Blind, Blind{[]string{c.Probe}, c.State, c.Why, c.Cure})
}

func suspectsIn(d *report.Document, state string) []string {
	out := []string{}
	for _, e := range d.Verdict {
		if e.State == state && !slices.Contains(out, e.Suspect) {
			out = append(out, e.Suspect)
		}
	}
	return out
}

// sentence is the verdict in a line: what is read where nothing else is.
func sentence(d *report.Document) string {
	var culprits []report.Entry
	for _, e := range d.Verdict {
		if e.State == "culprit" && !e.Elsewhere {
			culprits = append(culprits, e)
		}
	}
	head := map[string]string{
		"unproved": "NO CULPRIT PROVED", "not-enough-seen": "CAN'T TELL", "error-answers": "SOME ANSWERS ARE ERRORS", "slow": "SLOW ANSWERS",
	}[d.Standing]
	switch {
	case len(culprits) > 0:
		c := culprits[0]
		text := fmt.Sprintf("CULPRIT: %s (%s, %s): %s: %s", c.Title, c.Suspect, c.Proof, c.Subject, c.Text)
		if n := len(culprits) - 1; n > 0 {
			text += fmt.Sprintf("; and %d more", n)
		}
		return cut(text, 600)
	case d.Standing == "nothing-wrong":
		text := fmt.Sprintf("NOTHING WRONG: no client and no stream was affected in %.0f s on %s", d.Window.Seconds, d.Host)
		if i := slices.IndexFunc(d.Verdict, func(e report.Entry) bool { return e.State == "risk" && !e.Elsewhere }); i >= 0 {
			text += fmt.Sprintf("; a risk: %s: %s", d.Verdict[i].Suspect, d.Verdict[i].Subject)
		}
		return cut(text, 600)
	case d.Foremost != nil:
		return cut(fmt.Sprintf("%s: %s: %s", head, d.Foremost.Subject, d.Foremost.Text), 600)
	}
	return cut(fmt.Sprintf("%s: %s", head, d.Abstained), 600)
}
