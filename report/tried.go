package report

import (
	"fmt"
	"slices"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/suspects/suspect"
	"snag/verdict"
)

// Experiment is one experiment of snag eliminate on a service, and which suspects it struck off.
type Experiment struct {
	Target     string `json:"target"`
	Experiment string `json:"experiment"`
	What       string `json:"what"`
	Start      string `json:"start"`
	End        string `json:"end"`
	NotDone    string `json:"not_done"` // why it did not run to its end; "": it did
	// Number is its main figure; null: it was not measured.
	Number   *float64            `json:"number"`
	Unit     string              `json:"unit"`
	Of       string              `json:"of"`
	Shows    string              `json:"shows"` // all that was measured, in words
	Suspects []ExperimentSuspect `json:"suspects"`
}

// ExperimentSuspect is what an experiment says of one suspect of snag eliminate.
type ExperimentSuspect struct {
	Suspect string `json:"suspect"`
	State   string `json:"state"` // found, open, ruled out, not measured
	Why     string `json:"why"`
	Cause   string `json:"cause,omitempty"` // in the catalogue
}

func experiments(r *recording.Recording) (out []Experiment) {
	for _, row := range r.Experiments {
		one := Experiment{Target: row.Target, Experiment: row.Experiment, What: row.What, Start: stamp(row.T), End: stamp(row.End), NotDone: row.NotDone,
			Number: row.Number, Unit: row.Unit, Of: row.Of, Shows: row.Shows, Suspects: []ExperimentSuspect{}}
		for _, s := range row.Suspects {
			one.Suspects = append(one.Suspects, ExperimentSuspect{s.Suspect, s.State, s.Why, s.Cause})
		}
		out = append(out, one)
	}
	return out
}

// triedHead says in a line for each service, before any answer, what was tried on it.
func (p *page) triedHead(r *recording.Recording) {
	if c, ok := r.Measured(recording.MeasureEliminate); !ok && c.State == recording.CoverageFailed {
		p.item("", p.yellow("! "), "  ", "the experiments failed: "+c.Why)
	}
	var targets []string
	for _, row := range r.Experiments {
		if !slices.Contains(targets, row.Target) {
			targets = append(targets, row.Target)
		}
	}
	for _, target := range targets {
		done, not, shows := 0, 0, ""
		for _, row := range r.Experiments {
			switch {
			case row.Target != target:
			case row.NotDone != "":
				not++
			default:
				done++
				if row.Experiment == "request" && row.Shows != "" {
					shows = "; the request: " + row.Shows
				}
			}
		}
		text := fmt.Sprintf("%s on %s", units.Plural(done, "experiment"), target)
		if not > 0 {
			text += fmt.Sprintf(", %d not done", not)
		}
		p.item("", "", "  ", p.dim(text+shows))
	}
}

// ruledOut prints what experiments struck off, each with its number: it is what they were made for.
func (p *page) ruledOut(v *verdict.Verdict) {
	all := byTrial(v.With(verdict.Cleared), true)
	if len(all) > 0 {
		p.gap()
	}
	for i, e := range all {
		if i == p.detail.others {
			p.add("  " + p.dim(fmt.Sprintf("and %d more ruled out by experiments: -v lists them", len(all)-i)))
			break
		}
		p.item("", p.green(fmt.Sprintf("%-14s", "ruled out")), strings.Repeat(" ", 14), fmt.Sprintf("%s · %s · %s", e.Suspect.Name, e.Subject.Name, strings.TrimPrefix(e.Text, "ruled out ")))
		if p.Verbose {
			p.evidence(e, suspect.Against, p.green("− "))
		}
	}
}

// byTrial are the entries that experiments show, or those that they do not.
func byTrial(all []verdict.Entry, tried bool) []verdict.Entry {
	return slices.DeleteFunc(slices.Clone(all), func(e verdict.Entry) bool { return e.Tried != tried })
}

// onlyAsked reports whether a recording is of snag's own experiments alone: nobody looked at the host.
func onlyAsked(r *recording.Recording) bool {
	// The coverage of "recording" is the writer's own.
	return len(r.Experiments) > 0 && !slices.ContainsFunc(r.Coverage, func(c recording.Coverage) bool {
		return c.Probe != recording.MeasureEliminate && c.Probe != recording.MeasureLoad && c.Probe != "recording"
	})
}
