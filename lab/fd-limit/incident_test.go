package fdlimit

import (
	"fmt"
	"os"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/actor"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		server := s.ProcessOf("token-server")
		before, _ := actor.LastLine(server.Printed())
		callsBefore, _ := actor.LastLine(s.ProcessOf("token-client").Printed())
		overflows := labtest.Growth(t, s, s.Name("server"), "TcpExt", "ListenOverflows", 3*time.Second)
		after, ok := actor.LastLine(server.Printed())
		calls, ok2 := actor.LastLine(s.ProcessOf("token-client").Printed())
		if !ok || !ok2 {
			t.Fatal("the actors printed no counts")
		}
		refused := after.Count["EMFILE"] - before.Count["EMFILE"]
		if (v == lab.Sick) != (refused >= 10) || (v != lab.Sick && refused != 0) {
			t.Errorf("accept4 gave EMFILE %d times", refused)
		}
		open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", server.PID))
		if err != nil {
			t.Fatal(err)
		}
		switch n := len(open); {
		case v == lab.Sick && n != 64, v == lab.Distractor && (n < 42 || n > 50), v == lab.Healthy && n > 20:
			t.Errorf("%d descriptors are open", n)
		}
		answered := calls.Count["answer"] - callsBefore.Count["answer"]
		if (v == lab.Sick) != (answered == 0) {
			t.Errorf("%d calls were answered", answered)
		}
		// The waiting connections fit into the backlog: it is one cause, not two.
		if overflows != 0 {
			t.Errorf("ListenOverflows grew by %d", overflows)
		}
		t.Logf("%d descriptors, EMFILE %d times in 3 s, %d answers", len(open), refused, answered)
	})
}
