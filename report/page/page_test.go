package page

import (
	"path/filepath"
	"testing"

	"snag/recording"
	"snag/verdict"
)

// recordings are the lab's: real incidents with their healthy twins.
func recordings(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("../../lab/recordings/*.snag")
	if err != nil || len(all) < 10 {
		t.Fatalf("%d recordings of the lab (%v)", len(all), err)
	}
	return all
}

func judged(t *testing.T, file string) *verdict.Verdict {
	t.Helper()
	r, err := recording.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return verdict.Judge(r)
}

func pageOf(t *testing.T, file string) []byte {
	t.Helper()
	out, err := render(judged(t, file))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
