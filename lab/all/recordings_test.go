package all

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snag/lab"
	"snag/recording"
	"snag/report"
	"snag/verdict"
)

// TestRecordedIncidents judges again what the lab recorded of every incident and
// variant, so that a change of the rules is held against real incidents without
// root. `snag-lab score-all --record lab/recordings` makes them anew.
func TestRecordedIncidents(t *testing.T) {
	for _, inc := range Incidents {
		for _, v := range lab.Variants {
			name := inc.Name + "-" + string(v)
			t.Run(name, func(t *testing.T) {
				r, err := recording.Open(filepath.Join("..", "recordings", name+".snag"))
				if err != nil {
					t.Fatal(err)
				}
				if file := filepath.Join("..", "recordings", name+"-baseline.snag"); exists(file) {
					if r.Baseline, err = recording.Open(file); err != nil {
						t.Fatal(err)
					}
				}
				var doc, text bytes.Buffer
				judged := verdict.Judge(r)
				if err := report.WriteJSON(&doc, judged); err != nil {
					t.Fatal(err)
				}
				answer, err := lab.ParseAnswer(doc.Bytes())
				if err != nil {
					t.Fatal(err)
				}
				outcome, why, err := lab.Score(inc.WantIn(v), answer)
				if err != nil {
					t.Fatal(err)
				}
				if err := report.WriteText(&text, judged, report.Options{}); err != nil {
					t.Fatal(err)
				}
				if outcome != lab.Right {
					t.Errorf("%s: %s\n%s", outcome, why, text.String())
				}
				if n := strings.Count(text.String(), "\n"); n > 40 {
					t.Errorf("%d lines do not fit the screen", n)
				}
			})
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
