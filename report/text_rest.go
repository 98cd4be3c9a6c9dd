package report

import (
	"fmt"
	"slices"
	"strings"

	"snag/scene"
	"snag/suspects/suspect"
	"snag/verdict"
)

// notSeen prints what could not be judged: in full what was suspected and not
// proved, and, while nobody is accused, what could have explained a symptom; the
// rest by name only, so that an answer is not buried under what it is not.
func (p *page) notSeen(v *verdict.Verdict) {
	var full, names []verdict.Entry
	answered := len(v.Here(verdict.Culprit)) > 0
	// What a host's own counters would tell is no answer to who has a capture or a log.
	ofFiles := len(v.Recording.Manifest.Files) > 0 || onlyAsked(v.Recording)
	for _, e := range v.With(verdict.NotSeen) {
		if p.Verbose || e.Subject.Kind != "" && (!answered || p.detail.others != 0) || !answered && !ofFiles && explains(e.Suspect, v.Symptoms) {
			full = append(full, e)
		} else {
			names = append(names, e)
		}
	}
	all := p.together(full)
	if len(all)+len(names) == 0 {
		return
	}
	p.gap()
	for i, e := range all {
		if i == p.detail.others {
			p.add("  " + p.dim(fmt.Sprintf("and %d more not seen: -v lists them", len(all)-i)))
			break
		}
		text := strings.Join(e.names, ", ") + " · " + e.text
		if e.next != "" {
			text += " · to see it: " + e.next
		}
		p.item("", p.dim(fmt.Sprintf("%-14s", "not seen")), strings.Repeat(" ", 14), text)
	}
	if len(names) > 0 {
		text := nameList(names) + " (-v says why, and what would show them)"
		if n := suspectCount(names); len(v.Recording.Manifest.Files) > 0 && len(text) > mostNames {
			text = n + "; these files show nothing or not enough of them (-v says what would show each)"
		} else if onlyAsked(v.Recording) {
			text = n + ": the host was not looked at (-v says what would show each)"
		}
		p.item("", p.dim(fmt.Sprintf("%-14s", "not seen")), strings.Repeat(" ", 14), p.dim(text))
	}
}

// mostNames, bytes: files of one kind tell of few suspects, and a screen of the
// names of all others tells nothing.
const mostNames = 200

// explains reports whether the suspect could lead to a symptom that was seen.
func explains(s *suspect.Suspect, seen []scene.Symptom) bool {
	for _, l := range s.LeadsTo {
		for _, sym := range seen {
			if l.To == sym.Name {
				return true
			}
		}
	}
	return false
}

// nameList is the names of the entries' suspects, each once.
func nameList(all []verdict.Entry) string {
	var names []string
	for _, e := range all {
		if !slices.Contains(names, e.Suspect.Name) {
			names = append(names, e.Suspect.Name)
		}
	}
	return strings.Join(names, ", ")
}

// unseen is suspects that were not seen for want of the same thing.
type unseen struct {
	names      []string
	text, next string
}

// together joins the suspects that the same cure would show, with the first
// one's reason; each stands alone when all is asked for, and so does one that
// was suspected and not proved.
func (p *page) together(all []verdict.Entry) []unseen {
	var out []unseen
	at := map[string]int{}
	for _, e := range all {
		i, seen := at[e.Next]
		if p.Verbose || e.Subject.Kind != "" || e.Next == "" || !seen {
			if e.Subject.Kind == "" {
				at[e.Next] = len(out)
			}
			out = append(out, unseen{[]string{e.Suspect.Name}, e.Text, e.Next})
			continue
		}
		out[i].names = append(out[i].names, e.Suspect.Name)
	}
	return out
}

func (p *page) cleared(v *verdict.Verdict) {
	all := byTrial(v.With(verdict.Cleared), false)
	if len(all) == 0 {
		return
	}
	if !p.Verbose {
		p.add(p.dim(fmt.Sprintf("%-14s%s, measured and innocent (-v lists them)", "cleared", suspectCount(all))))
		return
	}
	p.gap()
	for _, e := range all {
		p.item("", p.dim(fmt.Sprintf("%-14s", "cleared")), strings.Repeat(" ", 14), e.Suspect.Name+" · "+e.Text)
		p.evidence(e, suspect.Against, p.green("− "))
	}
}

// suspectCount counts suspects, not their subjects.
func suspectCount(all []verdict.Entry) string {
	names := map[string]bool{}
	for _, e := range all {
		names[e.Suspect.Name] = true
	}
	if len(names) == 1 {
		return "1 suspect"
	}
	return fmt.Sprintf("%d suspects", len(names))
}
