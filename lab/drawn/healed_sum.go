package drawn

import (
	"fmt"
	"maps"
	"slices"
)

// Remedies sums up what the commands did, of runs with --remedies whose fault went on.
type Remedies struct {
	Asked      int   // such runs: incidents, and faults that nobody noticed
	Commands   Share // incidents of which the first culprit has a command
	Right      Share // of the commands that were run for the right cause: enough of the harm gone, and nothing worse
	Wrong      Share // the same, run for a wrong one
	Worse      Share // of all that were run, also where nobody noticed the fault: something got worse
	Failed     Share // of all that were begun: ended with an error
	NotRun     int   // would change more than the lab's own, or could not be measured
	Unmeasured int   // was run in an incident, and nothing was noticed of the fault that it is for
}

// RemediesOf sums marks up.
func RemediesOf(marks []Mark) Remedies {
	var out Remedies
	var incidents, commands, begun, failed, ran, worse int
	var right, wrong [2]int // healed, of
	for _, m := range marks {
		h := m.Healed
		if h == nil || m.Class != Incident && m.Class != Unnoticed {
			continue
		}
		out.Asked++
		if m.Class == Incident {
			incidents++
			commands += count(h.Command != "")
		}
		out.NotRun += count(h.NotRun != "")
		if h.Command == "" || h.NotRun != "" {
			continue
		}
		begun++
		failed += count(h.Exit != 0)
		if !h.ran() {
			continue
		}
		ran++
		worse += count(h.Worse != "")
		switch {
		case m.Class == Unnoticed:
		case !h.Harm:
			out.Unmeasured++
		case h.Right:
			right[0], right[1] = right[0]+count(h.healed()), right[1]+1
		default:
			wrong[0], wrong[1] = wrong[0]+count(h.healed()), wrong[1]+1
		}
	}
	out.Commands = shareOf(float64(commands), incidents)
	out.Right, out.Wrong = shareOf(float64(right[0]), right[1]), shareOf(float64(wrong[0]), wrong[1])
	out.Worse, out.Failed = shareOf(float64(worse), ran), shareOf(float64(failed), begun)
	return out
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// overAll are the lines of the table of everything; none where no run was asked.
func (r Remedies) overAll() [][]string {
	if r.Asked == 0 {
		return nil
	}
	return [][]string{
		{"incidents of which the first culprit has a command (`now`)", r.Commands.String()},
		{"the command, run for the right cause, removed 80 % of the harm and more", r.Right.String()},
		{"the command, run for a wrong cause, did so", r.Wrong.String()},
		{"a command made something worse", r.Worse.String()},
		{"a command failed (exit code not 0)", r.Failed.String()},
		{"not counted: commands that were not run, harm of another fault only", fmt.Sprintf("%d, %d", r.NotRun, r.Unmeasured)},
	}
}

// remediesBy is a table of the commands by the suspect that proposes them.
func remediesBy(marks []Mark) [][]string {
	groups := map[string][]Mark{}
	for _, m := range marks {
		if m.Healed != nil && m.Healed.Command != "" {
			groups[m.Healed.Suspect] = append(groups[m.Healed.Suspect], m)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	out := [][]string{{"", "right cause: healed", "95 %", "wrong cause: healed", "made worse", "failed", "not run"}}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		r := RemediesOf(groups[name])
		out = append(out, []string{name, counted(r.Right), interval(r.Right), counted(r.Wrong), counted(r.Worse), counted(r.Failed), fmt.Sprint(r.NotRun)})
	}
	return out
}
