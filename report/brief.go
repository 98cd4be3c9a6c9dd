package report

import (
	"slices"
	"strings"

	"snag/internal/shown"
	"snag/recording"
	"snag/verdict"
)

// Brief is a verdict on one sick stream in one sentence: what a webhook is told.
type Brief struct {
	Culprit    string  // the suspect's name; "" where none is named
	Subject    string  // of the culprit: who or what it is
	Confidence float64 // 0–1; of the culprit
	Proof      string  // of the culprit: what the accusation rests on, "1 proof, 2 strong signs"
	Text       string  // one sentence; of no culprit, why there is none
}

// BriefOn reports what a verdict says of a stream as it was seen at a place; the
// fields of row that count are those that tell places apart. False: the recording
// shows nothing wrong with it, so that nothing can be said of it.
func BriefOn(v *verdict.Verdict, row recording.Stream) (Brief, bool) {
	sick := sickWith(v, row)
	if len(sick) == 0 {
		return Brief{}, false
	}
	for _, e := range v.With(verdict.Culprit) { // the surest first
		if slices.ContainsFunc(e.Explains, func(i int) bool { return slices.Contains(sick, i) }) {
			return Brief{
				Culprit: e.Suspect.Name, Subject: shown.Text(e.Subject.Name), Confidence: e.Confidence, Proof: proof(e),
				Text: Sentence(capital(e.Suspect.Title) + ", " + e.Subject.Name + ": " + e.Text),
			}, true
		}
	}
	why := v.Abstained
	if why == "" {
		why = "nothing proves what stopped this stream"
	}
	for _, e := range v.With(verdict.Culprit) {
		if slices.ContainsFunc(sick, func(i int) bool { return overlap(e.Active, v.Symptoms[i].Active) }) {
			why += "; on this host at that time: " + e.Suspect.Title + ", " + e.Subject.Name + ", " + e.Text
			break // the surest
		}
	}
	text := "No culprit named: " + why
	if v.Next != "" {
		text += "; next: " + v.Next
	}
	return Brief{Text: Sentence(text)}, true
}

// sickWith are the symptoms of a stream, as indices.
func sickWith(v *verdict.Verdict, row recording.Stream) (out []int) {
	for _, st := range v.Scene.Streams {
		if st.Row.Name != row.Name || st.Row.Layer != row.Layer {
			continue
		}
		name := v.Scene.Name(st.Subject)
		for i, s := range v.Symptoms {
			if s.Subject.Kind == recording.KindStream && s.Subject.Name == name {
				out = append(out, i)
			}
		}
	}
	return out
}

// overlap reports whether two rows of intervals have a moment in common.
func overlap(a, b []recording.Interval) bool {
	return slices.ContainsFunc(a, func(x recording.Interval) bool {
		return slices.ContainsFunc(b, func(y recording.Interval) bool {
			return (y.End == 0 || x.Start <= y.End) && (x.End == 0 || y.Start <= x.End)
		})
	})
}

// Sentence is a text in one line, whatever it was made of.
func Sentence(text string) string { return shown.Text(strings.Join(strings.Fields(text), " ")) }
