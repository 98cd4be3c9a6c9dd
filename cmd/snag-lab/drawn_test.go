package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snag/lab/all"
	"snag/lab/drawn"
	"snag/recording"
)

func TestDrawnListNamesEveryFamily(t *testing.T) {
	out, err := labSays("drawn", "list")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all.Families {
		if !strings.Contains(out, f.Name+" ") {
			t.Errorf("%s is not in the list", f.Name)
		}
	}
}

func TestDrawnRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"drawn run", "snag-lab drawn run: FAMILY is missing"},
		{"drawn run no-such-family", `no family named "no-such-family"`},
		{"drawn run nagle-delayed-ack --fault fire", `has no fault "fire"`},
		{"drawn run nagle-delayed-ack --healthy --faulty", "without both, both are run"},
		{"drawn score", "give --dir DIR"},
		{"drawn score --dir a --draws 0", "at least 1"},
		{"drawn score --dir a --part 3/2", "want K/N"},
		{"drawn score --dir a --families fire", `no family named "fire"`},
		{"drawn score --dir testdata/no-such-folder --judge-only", "has no run of these draws"},
		{"drawn merge a", "snag-lab drawn merge: FROM is missing"},
		{"drawn noise testdata/a testdata/b", "have no healthy run of the same draw"},
	} {
		_, err := labSays(strings.Fields(c.args)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("snag-lab %s: %v, want %q", c.args, err, c.want)
		}
	}
}

// Of odd seeds nothing is shown without --final, and each use of it is noted.
func TestOddSeedsAreHeldBack(t *testing.T) {
	temp := t.TempDir()
	dir, log := filepath.Join(temp, "runs"), filepath.Join(temp, "final.log")
	for _, seed := range []uint64{2, 3} {
		for _, c := range drawn.Plan(all.Families[:1], seed, 1) {
			keepEmpty(t, drawn.Folder(dir), c)
		}
	}
	args := func(seed string, more ...string) []string {
		return append([]string{"drawn", "score", "--judge-only", "--draws", "1", "--families", all.Families[0].Name, "--dir", dir, "--seed", seed, "--final-log", log}, more...)
	}
	even, err := labSays(args("2")...)
	if err != nil || !strings.Contains(even, "AC@1") {
		t.Fatalf("%v\n%s", err, even)
	}
	odd, err := labSays(args("3")...)
	if err != nil || strings.Contains(odd, "AC@1") || !strings.Contains(odd, "held back") {
		t.Errorf("%v\n%s", err, odd)
	}
	if _, err := os.Stat(log); err == nil {
		t.Error("a use of --final was noted that there was not")
	}
	out := filepath.Join(temp, "score.json")
	for n := 1; n <= 2; n++ {
		final, err := labSays(args("3", "--final", "--json", out)...)
		if err != nil || !strings.Contains(final, "AC@1") {
			t.Errorf("%v\n%s", err, final)
		}
		raw, _ := os.ReadFile(log)
		if strings.Count(string(raw), "\n") != n || !strings.Contains(string(raw), "seed 3, 1 draws") {
			t.Errorf("after %d uses the log is\n%s", n, raw)
		}
	}
	var r drawn.Report
	raw, err := os.ReadFile(out)
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil || len(r.Judges) != 3 || len(r.Judges[0].Marks) == 0 {
		t.Errorf("%v: %s", err, raw)
	}
}

// keepEmpty keeps a run whose recording has no rows.
func keepEmpty(t *testing.T, f drawn.Folder, c drawn.Case) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "recording")
	w, err := recording.Create(dir, recording.Manifest{Snag: "test"}, recording.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	k := drawn.Kept{Key: c.Key(), Seed: c.Seed, Faulty: c.Faulty}
	for _, fam := range c.Families {
		k.Parts = append(k.Parts, drawn.Part{Family: fam.Name, Truth: &drawn.Truth{Fault: "a", Suspects: []string{"packet-loss"}, Subject: "x"}})
	}
	if err := f.Keep(dir, k); err != nil {
		t.Fatal(err)
	}
}
