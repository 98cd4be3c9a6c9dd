package verdict

import (
	"slices"
	"strings"

	"snag/recording"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// clearNobody takes back what was cleared where the view is cut: whoever may not see all processes
// and sockets, for want of rights or in a container's own PID namespace, clears nobody. Experiments ask the
// service itself, for which no rights are needed.
func (v *Verdict) clearNobody() {
	cut, is := v.Cut()
	if !is {
		return
	}
	for i := range v.Entries {
		if e := &v.Entries[i]; e.State == Cleared && !e.Tried {
			e.State, e.Text = NotSeen, "nothing speaks for it in what was seen; "+why(cut)
			e.Next = firstOf(e.Next, cut.Cure)
			e.Evidence = append(e.Evidence, suspect.Evidence{Side: suspect.Missing, Text: why(cut) + "; " + cut.Cure, Source: source.Of(cut.Probe)})
		}
	}
}

// Cut is the measure that shows that the view is cut: only what this user or this container
// may see was seen. False where it is not.
func (v *Verdict) Cut() (recording.Coverage, bool) {
	for _, c := range v.Unmeasured() {
		if c.Withheld() {
			return c, true
		}
	}
	return recording.Coverage{}, false
}

// warnOfCut says it first where another line than "not enough seen" begins the verdict.
func (v *Verdict) warnOfCut() {
	if c, is := v.Cut(); is && v.Standing() != Blind {
		v.Warnings = slices.Insert(v.Warnings, 0, strings.TrimSuffix("the view is cut, so no suspect is cleared: "+why(c)+": "+c.Cure, ": "))
	}
}

// withheld returns the entry of a suspect that may not be cleared: a measure that
// it must have saw only what this user may see, or was taken in slices of the time, and
// nothing there speaks for it. False when all was open to be seen.
func withheld(sus *suspect.Suspect, r *recording.Recording) (Entry, bool) {
	e := Entry{Suspect: sus, State: NotSeen}
	var why []string
	for _, n := range sus.Needs {
		c, measured := r.Measured(n.Measure)
		if !measured || !c.Withheld() && !c.InSlices() {
			continue
		}
		e.Evidence = append(e.Evidence, suspect.Evidence{
			Side: suspect.Missing, Text: strings.TrimSuffix(n.Measure+" was measured in part: "+c.Why+"; "+c.Cure, "; "), Source: source.Of(n.Measure),
		})
		if n.Must {
			why = append(why, n.Measure+": "+c.Why)
			e.Next = firstOf(e.Next, c.Cure)
		}
	}
	e.Text = "nothing speaks for it in what was seen; " + strings.Join(why, "; ")
	if len(why) == 0 && len(e.Evidence) > 0 {
		e.Text = "nothing speaks for it in what was seen; " + e.Evidence[0].Text
	}
	return e, len(why) > 0
}
