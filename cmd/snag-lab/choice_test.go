package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snag/lab"
)

func TestChoice(t *testing.T) {
	list := []lab.Incident{
		{Name: "plain"}, {Name: "long", Long: true}, {Name: "vm", VM: &lab.VM{}}, {Name: "both", Long: true, VM: &lab.VM{}},
	}
	for _, c := range []struct {
		choice
		want string
	}{
		{choice{}, "plain"},
		{choice{long: true}, "plain long"},
		{choice{vm: true}, "plain vm"},
		{choice{long: true, vm: true}, "plain long vm both"},
		{choice{only: []string{"both", "plain"}}, "both plain"},
	} {
		got, err := c.of(list)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, inc := range got {
			names = append(names, inc.Name)
		}
		if s := strings.Join(names, " "); s != c.want {
			t.Errorf("%+v: %s, want %s", c.choice, s, c.want)
		}
	}
	if _, err := (choice{only: []string{"no-such"}}).of(list); err == nil {
		t.Error("a name that is not there was taken")
	}
}

func TestKeepResults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	kept, err := keepResults(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []lab.Variant{lab.Sick, lab.Healthy} {
		if err := kept.add(lab.Result{Incident: "x", Variant: v, Outcome: lab.Right}); err != nil {
			t.Fatal(err)
		}
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	var last lab.Result
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || len(lines) != 2 || last.Variant != lab.Healthy {
		t.Errorf("results %q (%v): want sick and healthy, a line each", raw, err)
	}
}
