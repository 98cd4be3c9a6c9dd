package report

import (
	"bytes"
	"strings"
	"testing"

	"snag/recording/rectest"
	"snag/verdict"
)

// What hurts most is answered first, though another's culprit is known.
func TestUnexplainedHarmComesFirst(t *testing.T) {
	written, err := rectest.Load("../verdict/testdata/unexplained-is-worse.txtar")
	if err != nil {
		t.Fatal(err)
	}
	v := verdict.Judge(written.Recording)
	var b bytes.Buffer
	if err := WriteText(&b, v, Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if first, culprit := strings.Index(text, "NOT EXPLAINED web-shop[60]"), strings.Index(text, "CULPRIT"); first < 0 || culprit < first {
		t.Errorf("%s", text)
	}
	d := NewDocument(v)
	if d.Foremost == nil || !strings.HasPrefix(d.Foremost.Subject, "web-shop[60]") {
		t.Errorf("the document has %+v", d.Foremost)
	}
}

// On a small terminal too, every culprit is named before what to measure next for the harm that none of them explains.
func TestEachCulpritIsNamedBeforeTheUnexplained(t *testing.T) {
	written, err := rectest.Load("../verdict/testdata/unexplained-and-two-culprits.txtar")
	if err != nil {
		t.Fatal(err)
	}
	v := verdict.Judge(written.Recording)
	culprits := v.Here(verdict.Culprit)
	if _, _, unexplained := v.Foremost(); len(culprits) != 2 || !unexplained {
		t.Fatalf("the case has %d culprits, unexplained harm: %v", len(culprits), unexplained)
	}
	text, rows := onTerminal(t, v)
	screen := strings.Join(rows[:min(24, len(rows))], "\n")
	next := strings.Index(screen, "\n  next  ")
	if next < 0 {
		t.Fatalf("what to measure next is beyond row 24:\n%s", text)
	}
	for _, e := range culprits {
		if at := strings.Index(screen, "CULPRIT  "+capital(e.Suspect.Title)); at < 0 || at > next {
			t.Errorf("%s is not named above what to measure next:\n%s", e.Suspect.Name, text)
		}
	}
}
