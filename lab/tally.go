package lab

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"text/tabwriter"
)

// Failed is a run that gave no verdict: the incident or snag find did not work.
const Failed Outcome = "failed"

// Tally counts the outcomes of many runs.
type Tally struct {
	order []string
	runs  map[string]map[Outcome]int
	bad   []Result
	total int
}

// Add counts one run.
func (t *Tally) Add(r Result) {
	if t.runs == nil {
		t.runs = map[string]map[Outcome]int{}
	}
	key := r.Incident + "\t" + string(r.Variant)
	if t.runs[key] == nil {
		t.runs[key] = map[Outcome]int{}
		t.order = append(t.order, key)
	}
	t.runs[key][r.Outcome]++
	t.total++
	if r.Outcome != Right {
		t.bad = append(t.bad, r)
	}
}

// Print prints the table: one line an incident and variant, then the sums.
func (t *Tally) Print(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "incident\tvariant\tright\twrong\tfalse\tabstained\tincomplete\tfailed")
	sums := map[Outcome]int{}
	line := func(key string, n map[Outcome]int) {
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%d\t%d\t%d\n", key,
			n[Right], n[Wrong], n[FalseAccusation], n[Abstained], n[Incomplete], n[Failed])
	}
	for _, key := range t.order {
		line(key, t.runs[key])
		for o, n := range t.runs[key] {
			sums[o] += n
		}
	}
	line("all\t", sums)
	tw.Flush()
	sort.SliceStable(t.bad, func(i, j int) bool { return t.bad[i].Incident < t.bad[j].Incident })
	for _, r := range t.bad {
		fmt.Fprintf(w, "%s, %s: %s: %s\n", r.Incident, r.Variant, r.Outcome, r.Why)
	}
}

// Err is nil when every run was right.
func (t *Tally) Err() error {
	switch {
	case t.total == 0:
		return errors.New("lab: no incident was run")
	case len(t.bad) > 0:
		return fmt.Errorf("lab: %d of %d runs were not right", len(t.bad), t.total)
	default:
		return nil
	}
}

// PrintResult prints one run in a line, and its culprits in one each.
func PrintResult(w io.Writer, r Result) {
	fmt.Fprintf(w, "%-26s %-10s %-10s %5.1f s  %s\n", r.Incident, r.Variant, r.Outcome, r.Seconds, r.Why)
	for _, c := range r.Culprits {
		fmt.Fprintf(w, "%-26s culprit %.2f: %s: %s\n", "", c.Confidence, c.Suspect, c.Subject.Short())
	}
}
