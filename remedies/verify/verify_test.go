package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snag/recording"
	"snag/verdict"
)

// judged opens and judges a recording of the lab.
func judged(t testing.TB, name string) *verdict.Verdict {
	t.Helper()
	r, err := recording.Open(filepath.Join("../../lab/recordings", name+".snag"))
	if err != nil {
		t.Fatal(err)
	}
	return verdict.Judge(r)
}

// The lab's own recordings of each incident: its healthy twin is the same with the
// fault taken away, which is what a remedy does; itself is what a remedy that does
// nothing leaves.
func TestTheLabsRecordings(t *testing.T) {
	files, err := filepath.Glob("../../lab/recordings/*-sick.snag")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	gone, all := 0, 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), "-sick.snag")
		if _, err := os.Stat("../../lab/recordings/" + name + "-healthy.snag"); err != nil {
			continue
		}
		sick := judged(t, name+"-sick")
		culprits := sick.With(verdict.Culprit)
		if len(culprits) == 0 {
			continue
		}
		e := culprits[0]
		if got := Compare(sick, sick, e, ""); got.Outcome != Unchanged {
			t.Errorf("%s with itself: %s (%s)\n%+v", name, got.Outcome, got.Why, got)
		}
		got := Compare(sick, judged(t, name+"-healthy"), e, "")
		t.Logf("%-24s %-10s %s; %v felt %s %.3g → %.3g load %+v", name, got.Outcome, got.Why, got.Notes, got.Felt.Outcome, got.Felt.Before, got.Felt.After, got.Load)
		if got.Cause != nil {
			t.Logf("      cause %+v", *got.Cause)
		}
		all++
		if got.Outcome == Gone {
			gone++
		}
	}
	t.Logf("%d of %d gone", gone, all)
}
