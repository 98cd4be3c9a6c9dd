package watch

import (
	"fmt"
	"strings"
	"testing"

	"snag/probes/probe"
)

// A URL under a second name is read once, and whoever asked hears of it once, with both
// names and lines; what loses nothing is no news.
func TestAURLUnderTwoNames(t *testing.T) {
	var l told
	var f fake
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor(), Note: l.note})
	list := func(text string) []Entry {
		entries, problems := ParseList("cams.txt", []byte(text), true)
		if len(problems) != 0 {
			t.Fatal(problems)
		}
		return entries
	}
	two := "rtmp://u:secret@a/live/cam1 name=door\n\nrtmp://u:secret@a/live/cam1 name=gate\n"
	w.Set("the command line", entries(t, "rtmp://a/live/cam2"))
	w.Set("cams.txt", list(two))
	w.Set("cams.txt", list(two)) // read again: it is known
	if len(l.notes) != 1 || !strings.HasPrefix(l.notes[0], "cams.txt:3: gate has the same URL as door (cams.txt:1): rtmp://a/live/cam1 is read once, as door asks for it") {
		t.Fatalf("told %q", l.notes)
	}
	if rows := w.Snapshot().Rows; len(rows) != 2 {
		t.Errorf("%d are watched", len(rows))
	}
	w.Set("nginx", entries(t, "rtmp://u:secret@a/live/cam1", "rtmp://a/live/cam2"))        // a server's own list says what it has
	w.Set("cams.txt", list("rtmp://a/live/cam2\nrtmp://u:secret@a/live/cam1 name=door\n")) // twice, and nothing is lost
	if len(l.notes) != 1 {
		t.Errorf("told %q", l.notes[1:])
	}
	w.Set("cams.txt", list("rtmp://a/live/cam2 threshold=3s\n"))
	if len(l.notes) != 2 || !strings.Contains(l.notes[1], "cams.txt:1: live/cam2 has the same URL as live/cam2 (the test)") {
		t.Errorf("a threshold that is not kept: told %q", l.notes)
	}
	many := ""
	for n := range 100 {
		many += fmt.Sprintf("rtmp://a/live/x name=x%d\n", n)
	}
	w.Set("cams.txt", list(many))
	if len(l.notes) != 2+maxProblems+1 || !strings.HasPrefix(l.notes[len(l.notes)-1], "79 more have the URL of another stream") {
		t.Errorf("%d notes, the last: %s", len(l.notes), l.notes[len(l.notes)-1])
	}
}
