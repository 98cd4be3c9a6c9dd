package readerstall

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/broadcast"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		b := broadcast.Of(s, true)
		w, err := b.Observe(10 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v", v, w)
		if v == lab.Sick && (w.Unread < w.Looks/4 || w.Server.Length > time.Second || w.Viewer.Length > time.Second) {
			t.Errorf("the recorder's queue was full in %d of %d samples; the server got nothing for %s, the other player for %s", w.Unread, w.Looks, w.Server.Length, w.Viewer.Length)
		}
	})
}
