package tlshandshakefailed

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/actor"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// What came of the clients' handshakes, by their own account.
func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		time.Sleep(3 * time.Second)
		users, ok := actor.LastLine(s.ProcessOf("web-users").Printed())
		others, also := actor.LastLine(s.ProcessOf("old-users").Printed())
		if !ok || !also {
			t.Fatal("the clients printed no counts")
		}
		if users.Count["answer"] == 0 || len(users.Count) > 1 {
			t.Errorf("the users of a new version met %v", users.Count)
		}
		if (v == lab.Sick) != (others.Count["handshake-failed"] > 0) {
			t.Errorf("%s: the others met %v", v, others.Count)
		}
	})
}
