package drawn

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"snag/lab/score"
	"snag/recording"
)

// answers are who is asked, in the order of the table.
var answers = []struct {
	name string
	of   func(Blame) (Blamed, string)
}{
	{"find --stream", func(b Blame) (Blamed, string) { return b.Find, b.FindSaid }},
	{"watch --host", func(b Blame) (Blamed, string) { return b.Host, b.HostSaid }},
	{"the viewer alone", func(b Blame) (Blamed, string) { return b.Viewer, b.ViewerSaid }},
}

// WriteBlames writes a table of what was said, by fault and over all, and a line for each
// answer that was not right.
func WriteBlames(w io.Writer, all []Blame, broken int) error {
	faults := []string{""}
	for _, b := range all {
		if !slices.Contains(faults, b.Fault) {
			faults = append(faults, b.Fault)
		}
	}
	slices.Sort(faults)
	rows := [][]string{{"fault", "runs", "not seen by the viewer"}}
	for _, a := range answers {
		rows[0] = append(rows[0], a.name+": right", "silent", "wrong")
	}
	rows[0] = append(rows[0], "other culprits beside")
	for _, f := range append(faults[1:], "") {
		rows = append(rows, rowOf(f, all))
	}
	var text strings.Builder
	score.Grid(&text, rows)
	fmt.Fprintf(&text, "\n%d runs gave no recording.\n\n", broken)
	for _, b := range all {
		for _, a := range answers {
			if how, said := a.of(b); b.Seen && how != Right {
				fmt.Fprintf(&text, "- `%s`: %s: %s %s\n", b.Key, a.name, how, said)
			}
		}
		if len(b.More) > 0 {
			fmt.Fprintf(&text, "- `%s`: beside it: %s\n", b.Key, strings.Join(b.More, ", "))
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// rowOf sums up the runs of a fault, "" for all. The shares are of the runs in which the viewer saw something.
func rowOf(fault string, all []Blame) []string {
	runs, unseen, beside := 0, 0, 0
	count := make([]map[Blamed]int, len(answers))
	for i := range count {
		count[i] = map[Blamed]int{}
	}
	for _, b := range all {
		if fault != "" && b.Fault != fault {
			continue
		}
		runs++
		if len(b.More) > 0 {
			beside++
		}
		if !b.Seen {
			unseen++
			continue
		}
		for i, a := range answers {
			how, _ := a.of(b)
			count[i][how]++
		}
	}
	name := fault
	if name == "" {
		name = "all"
	}
	row := []string{name, fmt.Sprint(runs), fmt.Sprint(unseen)}
	for i := range answers {
		right := fmt.Sprint(count[i][Right])
		if fault == "" {
			right = share(shareOf(float64(count[i][Right]), runs-unseen))
		}
		row = append(row, right, fmt.Sprint(count[i][Silent]), fmt.Sprint(count[i][Wrong]))
	}
	return append(row, fmt.Sprint(beside))
}

// share is a share with its interval.
func share(s Share) string {
	return strings.Join([]string{short(s), interval(s), "of", fmt.Sprint(s.Of)}, " ")
}

// BlamePlan are n faulty runs, the seeds seed, seed+2 and so on, of each fault in turn.
func BlamePlan(faults []Case, seed uint64, n int) (out []Case) {
	for i := range n {
		c := faults[i%len(faults)]
		c.Seed, c.Faulty = seed+2*uint64(i), true
		out = append(out, c)
	}
	return out
}

// Blames judges the runs of a folder that snag watch was part of. Runs that gave no
// recording are left out, and counted.
func Blames(folder Folder, judge score.Judge, cases []Case) (out []Blame, broken int, err error) {
	for _, c := range cases {
		if !folder.Has(c.Key(), true) {
			continue
		}
		k, err := folder.Note(c.Key())
		if err != nil {
			return nil, 0, err
		}
		if k.Error != "" || k.Heard == nil {
			broken++
			continue
		}
		r, err := recording.Open(folder.Recording(k.Key))
		if err != nil {
			return nil, 0, err
		}
		find, err := judge.Answer(r)
		if err != nil {
			return nil, 0, fmt.Errorf("judge %s: %w", k.Key, err)
		}
		if k.OnlyThese {
			find.DropAllElsewhere(k.here())
		}
		b, err := BlameOf(k, find)
		if err != nil {
			return nil, 0, err
		}
		out = append(out, b)
	}
	return out, broken, nil
}
