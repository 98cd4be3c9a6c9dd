package report

import (
	"bytes"
	"strings"
	"testing"

	"snag/recording/rectest"
	"snag/verdict"
)

// The first line answers for the target by its name, and what is elsewhere has one line each,
// below all that concerns the target.
func TestTheTargetIsAnsweredFirst(t *testing.T) {
	for _, c := range []struct{ file, first string }{
		{"target-first", "CULPRIT  Accept queue of a listener full"},
		{"target-healthy", "NOTHING WRONG with unit web seen"},
		{"target-idle", "NOT ENOUGH SEEN to say that nothing is wrong with unit idler"},
	} {
		written, err := rectest.Load("../verdict/testdata/" + c.file + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteText(&b, verdict.Judge(written.Recording), Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		first := strings.Index(text, c.first)
		heading := strings.Index(text, "\nelsewhere on this host\n")
		other := strings.Index(text, "  culprit       udp-port-closed")
		if first < 0 || heading < first || other < heading || strings.Count(text, "udp-port-closed") != 1 {
			t.Errorf("%s:\n%s", c.file, text)
		}
	}
}
