package plan

import (
	"strings"
	"testing"

	"snag/internal/shown"
)

// What nobody sees is escaped in a plan's file, and is there again when it is read.
func TestHiddenCharactersAreEscaped(t *testing.T) {
	evil := "a\x1b[31m\u202e\u2066\x7f\u009b\u2028 # b: \"c\""
	p := Plan{Version: Version, Host: evil, Kernel: "\U000e0041", For: Cause{Text: evil}, Advice: []Advice{{Who: evil, Do: evil + "\nx", Why: "\t" + evil}}}
	yaml, err := p.Text()
	if err != nil {
		t.Fatal(err)
	}
	json, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{string(yaml), string(json)} {
		if !shown.Safe(strings.ReplaceAll(text, "\n", "")) {
			t.Errorf("raw in %q", text)
		}
		got, err := Parse([]byte(text))
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if strings.Contains(got.Kernel, "\U000e0041") != (i == 0) {
			t.Errorf("%q", got.Kernel)
		}
		if got.Host != p.Host || got.For != p.For || got.Advice[0] != p.Advice[0] {
			t.Errorf("%+v\n%+v", *got, p)
		}
	}
}
