package halfopenpeer

import (
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		in := labtest.Growth(t, s, s.Name("sender"), "Tcp", "InSegs", 4*time.Second)
		n, err := Backoff(s)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Output(s.Name("sender"), "ss", "-Htno", "dst", "10.77.13.2")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d segments came back in 4 s, backoff %d: %s", v, in, n, strings.TrimSpace(out))
		if (v == lab.Sick) != (in == 0 && n >= 3 && strings.Contains(out, "timer:(on")) {
			t.Error("the sender does not wait for somebody who is gone, or does and should not")
		}
		if v == lab.Distractor && !strings.Contains(out, "timer:(persist") {
			t.Error("the window is not shut")
		}
	})
}
