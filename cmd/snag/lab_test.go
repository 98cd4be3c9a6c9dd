package main

import (
	"bytes"
	"strings"
	"testing"

	"snag/lab/all"
)

// labSays runs `snag lab args…` and returns what it printed.
func labSays(args ...string) (string, error) {
	c := labCommand()
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
		{"run", "accepts 1 arg"},
		{"run no-such-incident", `no incident named "no-such-incident"`},
		{"run qdisc-drop --healthy --distractor", "one variant at a time"},
		{"run qdisc-drop --for 1ms", "between 1s"},
		{"score-all --only no-such-incident", "no incident named"},
		{"score-all --repeat 0", "no incident was run"},
	} {
		_, err := labSays(strings.Fields(c.args)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("snag lab %s: %v, want %q", c.args, err, c.want)
		}
	}
}

// A run that fails is told in the table, and the rest goes on.
func TestLabScoreTellsFailures(t *testing.T) {
	out, err := labSays("score-all", "--only", all.Incidents[0].Name, "--for", "1ms")
	if err == nil || !strings.Contains(err.Error(), "3 of 3 runs were not right") {
		t.Errorf("got %v", err)
	}
	if strings.Count(out, "failed") < 3 {
		t.Errorf("the table:\n%s", out)
	}
}
