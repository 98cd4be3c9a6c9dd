package drawn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snag/lab"
	"snag/lab/score"
	"snag/recording"
)

// emptyRecording writes a recording without rows.
func emptyRecording(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "recording")
	w, err := recording.Create(dir, recording.Manifest{Snag: "test"}, recording.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFolder(t *testing.T) {
	f, dir := Folder(t.TempDir()), emptyRecording(t)
	failed := Kept{Key: "000002-a-healthy", Seed: 2, Error: "the service did not start"}
	if err := f.Keep(dir, failed); err != nil {
		t.Fatal(err)
	}
	if f.Has(failed.Key, false) || !f.Has(failed.Key, true) {
		t.Error("a run that failed counts as made, or not as tried")
	}
	made := failed
	made.Error = ""
	if err := f.Keep(dir, made); err != nil {
		t.Fatal(err)
	}
	if !f.Has(made.Key, false) {
		t.Error("the run is not there")
	}
	old, err := os.ReadFile(f.path(made.Key, ".failed1"))
	if err != nil || !strings.Contains(string(old), "did not start") {
		t.Errorf("the run that failed is gone: %v", err)
	}
	into := Folder(t.TempDir())
	for want := 1; want >= 0; want-- { // twice: the second has nothing new
		if n, err := into.Merge(f); err != nil || n != want {
			t.Errorf("merged %d (%v), want %d", n, err, want)
		}
	}
	all, err := into.All()
	if err != nil || len(all) != 1 || all[0].Seed != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := recording.Open(into.Recording(made.Key)); err != nil {
		t.Error(err)
	}
	if _, err := into.Merge(Folder(t.TempDir())); err == nil {
		t.Error("a folder without runs was merged")
	}
}

// Judge gives every run of the folder its mark, a faulty one by its healthy run.
func TestJudge(t *testing.T) {
	f, dir := Folder(t.TempDir()), emptyRecording(t)
	healthy, sick := runs(part("redis", slow))
	other, unnoticed := runs(part("nginx", fast))
	other.Key, unnoticed.Key, other.Seed, unnoticed.Seed = "h2", "f2", 6, 6
	for _, k := range []Kept{healthy, sick, other, unnoticed} {
		if err := f.Keep(dir, k); err != nil {
			t.Fatal(err)
		}
	}
	judge := score.Judge{Name: "all redis", Confident: true, Answer: func(*recording.Recording) (lab.Answer, error) {
		return said("culprit busy-thread redis"), nil
	}}
	marks, err := Judging{Folder: f, Judges: []score.Judge{judge, judge}, Keep: func(k Kept) bool { return k.Key != "h2" }}.Marks()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Class{}
	for _, m := range marks[1] {
		got[m.Key] = m.Class
	}
	if len(marks) != 2 || len(got) != 3 || got["h"] != Well || got["f"] != Incident || got["f2"] != Unnoticed {
		t.Errorf("%v", got)
	}
	var page strings.Builder
	r := Report{Judges: []Judged{{"snag", marks[0]}, {"thresholds", marks[1]}}}
	if err := r.Markdown(&page, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"(AC@1)", "1.00 (0.21–1.00) of 1", "### Families of real software", "| nginx |", "### What was not right",
		"- `f2`: accused: busy-thread on redis", "- `h`: accused: busy-thread on redis",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if t.Failed() {
		t.Log(page.String())
	}
}
