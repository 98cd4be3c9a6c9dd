package uplinkblackhole

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
		s.Break()
		w, err := b.Observe(8 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v", v, w)
		if v == lab.Sick && (w.Server.Length < 3*time.Second || w.Server.RecvQ > 10_000 || w.Server.SendQ < 30_000) {
			t.Errorf("the server got nothing for %s, with up to %d bytes unread, and %d bytes waited at the encoder", w.Server.Length, w.Server.RecvQ, w.Server.SendQ)
		}
	})
}
