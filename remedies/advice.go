package remedies

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"snag/internal/units"
	"snag/remedies/plan"
	"snag/suspects/suspect"
	"snag/verdict"
)

// advice adds what only programs and people can do: the exact calls, or the remedy in
// words where there is nothing else.
func (b *builder) advice(e verdict.Entry) {
	for _, c := range e.Calls {
		b.advise(plan.Advice{Who: c.Whose(), Do: c.Do, Why: c.Why})
	}
	if len(e.Settings) > 0 || len(e.Calls) > 0 {
		return
	}
	by := "you"
	if e.Subject.PID != 0 && e.Subject.Comm != "" {
		by = suspect.Call{Who: e.Subject}.Whose()
	}
	for _, part := range []plan.Advice{{Who: "you", Do: e.Remedy.Now}, {Who: "you", Do: e.Remedy.Permanently}, {Who: by, Do: e.Remedy.Program}} {
		if part.Do != "" {
			part.Why = e.Text
			b.advise(part)
		}
	}
}

func (b *builder) advise(a plan.Advice) {
	if !slices.Contains(b.p.Advice, a) {
		b.p.Advice = append(b.p.Advice, a)
	}
}

// check is how it is told that the culprit's worst symptom is gone.
func check(v *verdict.Verdict, e verdict.Entry) plan.Check {
	length := v.Scene.Window.Length(v.Scene.Window.End).Round(time.Second)
	c := plan.Check{For: length.String(), Before: e.Harm.Amount, Unit: e.Harm.Unit, Symptom: e.Harm.Symptom}
	for _, i := range e.Explains {
		if s := v.Symptoms[i]; c.Symptom == "" || s.Name == c.Symptom {
			c.Symptom, c.Subject, c.Before, c.Unit = s.Name, s.Subject.Name, s.Amount, s.Unit
			break
		}
	}
	return c
}

// stands says of the best evidence for a culprit where it is counted, and that it must
// stand still afterwards.
func stands(e verdict.Entry, over time.Duration) string {
	var best *suspect.Evidence
	for i := range e.Evidence {
		p := &e.Evidence[i]
		if p.Side == suspect.For && p.Source.String() != "" && (best == nil || p.Grade > best.Grade) {
			best = p
		}
	}
	if best == nil {
		return ""
	}
	place, _, _ := strings.Cut(best.Source.String(), ";")
	switch best.Unit {
	case "packets", "datagrams", "SYNs", "connections", "errors", "calls", "segments", "times", "allocations", "pages", "entries", "interrupts", "faults":
		return fmt.Sprintf("%s no longer grows (by %s %s in %s before)", place, units.Count(best.Value), best.Unit, over.Round(time.Second))
	}
	return ""
}
