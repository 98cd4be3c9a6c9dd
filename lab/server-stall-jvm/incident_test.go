package serverstalljvm

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/broadcast"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		b := broadcast.Of(s, false)
		b.Play("witness", "--to", relayed)
		w, err := b.Observe(10 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v", v, w)
		if v != lab.Sick {
			return
		}
		if ms := labtest.LastNumber(t, s.ProcessOf("java").Printed(), `paused for ([0-9]+) ms`); ms < 1500 {
			t.Errorf("the collection took %.0f ms", ms)
		}
		if w.Viewer.Length < 1500*time.Millisecond || w.Server.Length > time.Second {
			t.Errorf("the viewer got nothing for %s, the server for %s", w.Viewer.Length, w.Server.Length)
		}
	})
}
