package main

import (
	"bytes"
	"encoding/json"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snag/lab/all"
	"snag/lab/score"
)

// labSays runs `snag-lab args…` and returns what it printed.
func labSays(args ...string) (string, error) {
	c := rootCommand()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceUsage = true
	c.SetArgs(args)
	err := c.Execute()
	return out.String(), err
}

func TestLabListNamesEveryIncident(t *testing.T) {
	out, err := labSays("list")
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all.Incidents {
		if !strings.Contains(out, i.Name+" ") || !strings.Contains(out, i.Distractor) {
			t.Errorf("%s or its distractor is not in the list:\n%s", i.Name, out)
		}
	}
}

func TestLabRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"run", "snag-lab run: NAME is missing"},
		{"run no-such-incident", `no incident named "no-such-incident"`},
		{"run qdisc-drop --healthy --distractor", "one variant at a time"},
		{"run qdisc-drop --snag sh --for 1ms", "between 1s"},
		{"run qdisc-drop --snag no-such-program", "--snag no-such-program"},
		{"score", "give --dir DIR"},
		{"score --dir a --from b", "give --dir DIR"},
		{"score --from a --levels hard", "barely, plain or severe"},
		{"score --from a --repeat 0", "at least 1"},
		{"score --from a --sample 3", "only a short score takes one"},
		{"score --from a --only no-such-incident", "no incident named"},
		{"score --from testdata/no-such-folder", "has no recording of these cases"},
		{"fleet score --only no-such-incident", "no incident named"},
		{"fleet score --incidents 99", "1 to 10"},
		{"fleet score --kill no-such-incident", "no incident named"},
		{"fleet score --snag sh --thanos no-such-program", "tools/setup.sh fleet"},
		{"healthy", "give --dir DIR"},
		{"healthy --dir a --finds 0", "at least 1"},
		{"calibrate", "give --from DIR"},
		{"calibrate --from testdata/no-such-folder", "no recording of a score"},
		{"score-all --only no-such-incident", "no incident named"},
		{"score-all --snag sh --repeat 0", "no incident was run"},
	} {
		_, err := labSays(strings.Fields(c.args)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("snag-lab %s: %v, want %q", c.args, err, c.want)
		}
	}
}

// A run that fails is told in the table, and the rest goes on.
func TestLabScoreTellsFailures(t *testing.T) {
	out, err := labSays("score-all", "--only", all.Incidents[0].Name, "--snag", "sh", "--for", "1ms")
	if err == nil || !strings.Contains(err.Error(), "3 of 3 runs were not right") {
		t.Errorf("got %v", err)
	}
	if strings.Count(out, "failed") < 3 {
		t.Errorf("the table:\n%s", out)
	}
}

// The committed recordings are scored without root, and snag is right on each; the
// plain alarms are not.
func TestLabScoreOfKeptRecordings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "score.json")
	out, err := labSays("score", "--from", "../../lab/recordings", "--short", "--json", file)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r score.Report
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Sheets) != 3 || r.Sheets[0].All.AC1 != 1 || r.Sheets[0].All.False != 0 || r.Sheets[1].All.AC1 >= 1 || r.Sheets[2].All.AC1 >= 1 {
		t.Errorf("sheets: %s", out)
	}
	if n := len(r.Sheets[0].Marks); n < 3*13 {
		t.Errorf("%d recordings were marked", n)
	}
}

// The fit can be made of the committed recordings, and its weights are Go.
func TestLabCalibrate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "weights.go")
	out, err := labSays("calibrate", "--from", "../../lab/recordings", "--write", file)
	if err != nil || !strings.Contains(out, "| decisive |") {
		t.Fatalf("%v\n%s", err, out)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if formatted, err := format.Source(raw); err != nil || !bytes.Equal(formatted, raw) {
		t.Errorf("not as gofmt has it (%v):\n%s", err, raw)
	}
}
