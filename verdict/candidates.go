package verdict

import (
	"fmt"
	"strings"
	"time"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// candidate is a confirmed finding on its way to a state.
type candidate struct {
	suspect     *suspect.Suspect
	finding     suspect.Finding
	confidence  float64
	onset       recording.Time
	state       State
	elsewhere   bool
	explainedBy *candidate
	window      recording.Interval // over which it was weighed
	host        *host              // nil where the recording is of one
	id          string
}

// maxFindings bounds the findings of one suspect that are carried on: those with
// the greatest harm. A host with a thousand sick sockets has one cause, or needs
// a second look after the first is mended.
const maxFindings = 20

// weighAll runs every suspect and parts the confirmed findings from the entries
// that are settled at once: cleared and not seen. on are the services that snag eliminate tried.
func weighAll(s *scene.Scene, r *recording.Recording, l *ledger.Ledger, n *scope, on []*service, all []*suspect.Suspect) (found []*candidate, settled []Entry) {
	for _, sus := range all {
		said := abouts(sus.Name, on)
		own, rest := weighOne(sus, s, r, l, n, said)
		more, rest := settleTried(sus, s, r, said, rest)
		found, settled = append(append(found, own...), more...), append(settled, rest...)
	}
	return found, settled
}

const observerName = "observer"

func isSelf(sub recording.Subject, r *recording.Recording) bool {
	return sub.PID != 0 && sub.PID == r.Manifest.SelfPID
}

// within cuts intervals to the window: the last second of a table ends after it.
func within(active []recording.Interval, window recording.Interval) []recording.Interval {
	var out []recording.Interval
	for _, i := range active {
		i.Start = max(i.Start, window.Start)
		if i.End > window.End && i.Start < window.End {
			i.End = window.End
		}
		out = append(out, i)
	}
	return out
}

// onset is when a finding began to act: its first interval, or the window's start when it held
// throughout; of a process that began later, its start.
func onset(f suspect.Finding, s *scene.Scene) recording.Time {
	if len(f.Active) == 0 {
		if p := s.Process(f.Subject.PID); p != nil {
			return min(max(s.Window.Start, p.First().Start), s.Window.End)
		}
		return s.Window.Start
	}
	first := f.Active[0].Start
	for _, i := range f.Active[1:] {
		first = min(first, i.Start)
	}
	return first
}

// asEarlyAs is when a cause may have begun that is seen since some time: where it is seen from the moment on that its
// probes began, as late as they do on a busy host, with the recording. A delay that is there all the time has no onset
// of its own, and would seem to be earlier than its cause.
func asEarlyAs(since recording.Time, sus *suspect.Suspect, r *recording.Recording) recording.Time {
	if len(r.Manifest.Files) > 0 {
		return since
	}
	begun := r.Manifest.Start
	for _, n := range sus.Needs {
		if n.Must {
			begun = max(begun, begunAt(r, n.Measure))
		}
	}
	if since <= begun.Add(slack) {
		return min(since, r.Manifest.Start)
	}
	return since
}

// begunAt is when a live probe began to measure: a second before its first tick, which may come long after it was
// started. 0 where it did not.
func begunAt(r *recording.Recording, measure string) recording.Time {
	c, ok := r.Measured(measure)
	if !ok {
		return 0
	}
	begun := c.Since
	probe, _, _ := strings.Cut(measure, ".")
	for _, s := range r.Select("snag_probe_late_seconds", "probe", probe) {
		if len(s.Points) > 0 {
			begun = max(begun, s.Points[0].T.Add(-time.Second))
		}
	}
	return begun
}

func blindEntry(sus *suspect.Suspect, must []suspect.Need, r *recording.Recording) Entry {
	e := Entry{Suspect: sus, State: NotSeen}
	var why []string
	for _, n := range must {
		c, _ := r.Measured(n.Measure)
		why = append(why, fmt.Sprintf("%s was not measured (%s)", n.Measure, c.Why))
		e.Evidence = append(e.Evidence, missing(n, r))
		e.Next = firstOf(e.Next, c.Cure)
	}
	e.Text = strings.Join(why, "; ")
	e.Next = firstOf(e.Next, sus.Next)
	return e
}

// fromTrace says of evidence that a trace of calls gave where it is from; what a live
// host would be asked stands beside it.
func fromTrace(r *recording.Recording, all []suspect.Evidence) []suspect.Evidence {
	if !suspect.Traced(r) {
		return all
	}
	for i := range all {
		if e := &all[i]; e.Side != suspect.Missing && e.Source.String() != "" && !e.Source.OfFile() {
			if e.Origin == "" {
				e.Origin = e.Source.String()
			}
			e.Source = e.Source.As("the traced calls (on the live host: " + e.Source.String() + ")")
		}
	}
	return all
}

func missing(n suspect.Need, r *recording.Recording) suspect.Evidence {
	c, _ := r.Measured(n.Measure)
	text := n.Measure + " was not measured: " + c.Why
	if c.Cure != "" {
		text += "; " + c.Cure
	}
	return suspect.Evidence{Side: suspect.Missing, Text: text, Source: source.Of(n.Measure)}
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
