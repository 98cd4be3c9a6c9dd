package encoderstallcapture

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
		w, err := b.Observe(9 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v", v, w)
		if v == lab.Sick && (w.Server.Length < 2*time.Second || w.Server.RecvQ > 10_000 || w.Full > 0) {
			t.Errorf("the server got nothing for %s, with up to %d bytes unread; %d looks at a full queue of the encoder", w.Server.Length, w.Server.RecvQ, w.Full)
		}
	})
}
