package verdict

import (
	"strings"
	"testing"

	"snag/recording"
)

// What is usual is said with the history behind it: since when it is known, and by how many answers. Without earlier
// times nothing is said of before.
func TestHowMuchHistory(t *testing.T) {
	open := func(name string) *recording.Recording {
		r, err := recording.Open("../lab/recordings/busy-thread-" + name + ".snag")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	said := func(r *recording.Recording) (out string) {
		for _, s := range Judge(r).Symptoms {
			out += s.Text + "\n"
		}
		return out
	}
	sick := open("sick")
	if got := said(sick); strings.Contains(got, "before, since") {
		t.Errorf("without earlier times: %s", got)
	}
	for _, c := range []struct {
		earlier []*recording.Recording
		answers string
	}{
		{[]*recording.Recording{open("healthy")}, "649"},
		{[]*recording.Recording{open("healthy"), open("healthy")}, "1,298"}, // of all times together
	} {
		sick = open("sick")
		sick.Earlier = c.earlier
		want := "answers take 25.9 ms, and took 1.12 ms before, since 2026-11-23 05:39 UTC (" + c.answers + " answers; "
		if got := said(sick); !strings.Contains(got, want) {
			t.Errorf("%swant %s", got, want)
		}
	}
}
