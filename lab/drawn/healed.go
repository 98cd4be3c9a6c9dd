package drawn

import (
	"fmt"
	"strings"

	"snag/lab"
	"snag/lab/referee"
)

// Healed is what the command of an accusation is worth.
type Healed struct {
	Suspect string `json:"suspect,omitempty"`
	Command string `json:"command,omitempty"` // "" : there was none
	// Right: the accusation names a fault that was injected.
	Right  bool   `json:"right"`
	NotRun string `json:"not_run,omitempty"`
	Exit   int    `json:"exit_code"`
	Output string `json:"output,omitempty"`
	referee.Healed
}

// enoughRemoved is the share of the harm that a remedy has to take away.
const enoughRemoved = 0.8

// ran reports whether the command was run to its end, without an error.
func (h Healed) ran() bool { return h.Command != "" && h.NotRun == "" && h.Exit == 0 }

// healed: enough of the harm is gone, and nothing is worse.
func (h Healed) healed() bool {
	return h.ran() && h.Harm && h.Removed >= enoughRemoved && h.Worse == ""
}

// healedOf reports what became of the command of a run; nil where none was asked for. Untreated is
// the control run of the same draw, nil where there is none.
func healedOf(k Kept, without, untreated *Kept) (*Healed, error) {
	r := k.Remedy
	if r == nil || r.Withheld || without == nil || without.Error != "" || len(without.Parts) != len(k.Parts) {
		return nil, nil
	}
	h := &Healed{Suspect: r.Suspect, Command: r.Command, NotRun: r.NotRun, Exit: r.Exit, Output: r.Output}
	its := -1 // the part that the accusation is right about
	for i, p := range k.Parts {
		if p.Truth == nil || r.Suspect == "" {
			continue
		}
		t, err := p.Truth.compile(k.Key, p.Family)
		if err != nil {
			return nil, err
		}
		if its < 0 && t.accepts(lab.AnswerEntry{Suspect: r.Suspect, Subject: r.Subject, Ref: r.Ref}) {
			its, h.Right = i, true
		}
	}
	if !h.ran() || len(r.Clients) != len(k.Parts) {
		return h, nil
	}
	for i, p := range k.Parts {
		// Of two faults, a remedy answers for its own.
		if !p.Truth.goesOn() || h.Right && i != its {
			continue
		}
		faulty := p.Figures
		if b := r.Clients[i].Before; b != nil {
			faulty = *b
		}
		var others []referee.Figures
		if untreated != nil && len(untreated.Remedy.Clients) == len(k.Parts) {
			others = append(others, untreated.Remedy.Clients[i].After)
		}
		one := referee.Heal(without.Parts[i].Figures, faulty, r.Clients[i].After, others...)
		if one.Worse != "" {
			h.Worse = strings.TrimPrefix(h.Worse+"; "+one.Worse, "; ")
		}
		if one.Harm && (!h.Harm || one.Removed < h.Removed) {
			h.Harm, h.Removed, h.Left = true, one.Removed, one.Left
		}
	}
	return h, nil
}

// wrong says what a command did not do, "" of one that healed and where there was none.
func (h *Healed) wrong() string {
	if h == nil || h.Command == "" || h.healed() {
		return ""
	}
	var parts []string
	switch {
	case h.NotRun != "":
		parts = append(parts, "was not run: "+h.NotRun)
	case h.Exit != 0:
		parts = append(parts, fmt.Sprintf("failed with exit code %d: %s", h.Exit, strings.ReplaceAll(h.Output, "\n", " ")))
	case h.Harm && h.Removed < enoughRemoved:
		parts = append(parts, fmt.Sprintf("removed %.0f %% of the harm: %s", 100*h.Removed, h.Left))
	}
	if h.Worse != "" {
		parts = append(parts, "made worse: "+h.Worse)
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("`%s` (%s) %s", h.Command, h.Suspect, strings.Join(parts, "; "))
}

// Told says what the command did, beside the healthy run of the draw.
func (r *Remedy) Told(k Kept, without *Kept) string {
	switch {
	case r.Suspect == "":
		return "nobody was accused"
	case r.Command == "":
		return "none for now of " + r.Suspect
	}
	h, err := healedOf(k, without, nil)
	switch {
	case err != nil:
		return err.Error()
	case h == nil:
		return fmt.Sprintf("`%s` (%s), exit code %d %s", r.Command, r.Suspect, r.Exit, r.NotRun)
	}
	if text := h.wrong(); text != "" {
		return text
	}
	return fmt.Sprintf("`%s` (%s) removed %.0f %% of the harm: %s", h.Command, h.Suspect, 100*h.Removed, h.Left)
}
