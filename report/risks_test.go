package report

import (
	"bytes"
	"strings"
	"testing"

	"snag/recording/rectest"
	"snag/verdict"
)

// What is proved and affects nobody yet is named in the first lines.
func TestRisksAreInTheFirstLines(t *testing.T) {
	for _, name := range []string{"nagle-delayed-ack/innocent-publisher", "cpu-throttled/innocent-batch", "cpu-saturated/innocent-compile"} {
		written, err := rectest.Load("../suspects/testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		v := verdict.Judge(written.Recording)
		var b bytes.Buffer
		if err := WriteText(&b, v, Options{Width: 200}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(b.String(), "\n")
		risk := v.Here(verdict.Risk)
		if len(risk) == 0 || !strings.HasPrefix(lines[2], "NOTHING WRONG seen") || lines[3] != "  RISK  "+capital(risk[0].Suspect.Title)+": "+risk[0].Subject.Name {
			t.Errorf("%s: %q", name, lines[:5])
		}
	}
}
