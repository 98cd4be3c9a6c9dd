package score

import (
	"fmt"
	"path/filepath"
	"strings"

	"snag/lab"
	"snag/recording"
	"snag/recording/rectest"
)

// Written is how a judge did on the written cases of one cause that no incident
// can be made of: hardware that is not here. They are scored apart, since whoever
// wrote the cause wrote them too.
type Written struct {
	Cause    string   `json:"cause"`
	Guilty   int      `json:"guilty"` // cases
	Innocent int      `json:"innocent"`
	Blind    int      `json:"blind"`
	Wrong    []string `json:"wrong,omitempty"`
}

// JudgeWritten judges dir/CAUSE/{guilty,innocent,blind}*.txtar: guilty means first
// culprit, innocent no culprit, blind not seen.
func JudgeWritten(dir, cause string, answer func(*recording.Recording) (lab.Answer, error)) (Written, error) {
	out := Written{Cause: cause}
	for kind, n := range map[string]*int{"guilty": &out.Guilty, "innocent": &out.Innocent, "blind": &out.Blind} {
		files, err := filepath.Glob(filepath.Join(dir, cause, kind+"*.txtar"))
		if err != nil {
			return out, err
		}
		for _, file := range files {
			c, err := rectest.Load(file)
			if err != nil {
				return out, err
			}
			a, err := answer(c.Recording)
			if err != nil {
				return out, fmt.Errorf("judge %s: %w", file, err)
			}
			*n++
			if why := wrongly(kind, cause, a); why != "" {
				out.Wrong = append(out.Wrong, filepath.Base(file)+": "+why)
			}
		}
	}
	return out, nil
}

func wrongly(kind, cause string, a lab.Answer) string {
	culprits := a.Culprits()
	accused, unseen := false, false
	for _, e := range a.Verdict {
		accused = accused || e.Suspect == cause && e.State == "culprit"
		unseen = unseen || e.Suspect == cause && e.State == "not-seen"
	}
	switch {
	case kind == "guilty" && (len(culprits) == 0 || culprits[0].Suspect != cause):
		return "is not the first culprit"
	case kind != "guilty" && accused:
		return "is accused"
	case kind == "blind" && !unseen:
		return "is not said to be unseen"
	}
	return ""
}

func writtenTable(b *strings.Builder, all []Written) {
	rows := [][]string{{"cause", "guilty", "innocent", "blind", "wrong"}}
	for _, w := range all {
		wrong := "none"
		if len(w.Wrong) > 0 {
			wrong = strings.Join(w.Wrong, "; ")
		}
		rows = append(rows, []string{w.Cause, fmt.Sprint(w.Guilty), fmt.Sprint(w.Innocent), fmt.Sprint(w.Blind), wrong})
	}
	Grid(b, rows)
}
