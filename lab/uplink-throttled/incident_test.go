package uplinkthrottled

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
		w, err := b.Observe(8 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v", v, w)
		if v == lab.Sick && (2*w.Full < w.Looks || w.Server.Length > 2*time.Second || w.Server.RecvQ > 10_000) {
			t.Errorf("the encoder's queue was full in %d of %d samples; the server got nothing for %s, with up to %d bytes unread", w.Full, w.Looks, w.Server.Length, w.Server.RecvQ)
		}
	})
}
