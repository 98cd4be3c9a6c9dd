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
