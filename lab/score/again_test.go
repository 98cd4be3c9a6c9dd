package score

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"snag/lab"
)

// A run that failed, and is right the second time, is flaky; both tries are kept, and a
// third one overwrites neither.
func TestAgainKeepsTheFirstTry(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "score"))
	cases := Plan([]lab.Incident{qdisc, closed}, nil, []lab.Level{lab.Plain})
	key := cases[0].Key()
	b := &bench{fails: map[string]error{key: errors.New("no such tool")}}
	runs := b.runs(t, folder, 0)
	if _, err := runs.All(t.Context(), cases); err != nil {
		t.Fatal(err)
	}
	b.done()
	wrong := func() (map[string]bool, error) {
		out := map[string]bool{}
		for _, c := range cases {
			if k, err := folder.Note(c.Key()); err != nil || k.Error != "" {
				out[c.Key()] = true
			}
		}
		return out, nil
	}
	if flaky, err := runs.Again(t.Context(), cases, 1, wrong); err != nil || flaky != 0 || b.done() != key {
		t.Errorf("failed twice: %d flaky, %v", flaky, err)
	}
	b.fails = nil
	if flaky, err := runs.Again(t.Context(), cases, 2, wrong); err != nil || flaky != 1 || b.done() != key {
		t.Errorf("then right: %d flaky, %v", flaky, err)
	}
	if flaky, err := runs.Again(t.Context(), cases, 1, wrong); err != nil || flaky != 0 || b.done() != "" {
		t.Errorf("all right: %d flaky, %v", flaky, err)
	}
	for _, try := range []string{".try1", ".try2"} {
		if k, err := folder.Note(key + try); err != nil || k.Error != "no such tool" {
			t.Errorf("%s: %+v, %v", try, k, err)
		}
	}

	// A recording that was judged wrong is kept as well.
	right := cases[1].Key()
	if err := folder.Aside(right); err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{folder.Recording(right + ".try1"), folder.note(right + ".try1")} {
		if _, err := os.Stat(kept); err != nil {
			t.Error(err)
		}
	}
	if folder.Has(right) {
		t.Errorf("%s was put aside and is there", right)
	}
}
