package serverstall

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
		b := broadcast.Of(s, true)
		w, err := b.Observe(9 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v", v, w)
		stood := w.Viewer.Length > 2*time.Second
		if stood != (v != lab.Healthy) {
			t.Errorf("the longest gap at the viewer is %s", w.Viewer.Length)
		}
		// The encoder has nothing to send; a server that is stopped does not read.
		if v == lab.Distractor && (w.Server.Length < 2*time.Second || w.Server.RecvQ > 10_000) {
			t.Errorf("the server got nothing for %s, with up to %d bytes unread: it was not the encoder", w.Server.Length, w.Server.RecvQ)
		}
		if v == lab.Sick && w.Viewer.LeastRecvQ < 20_000 {
			t.Errorf("only %d bytes lay unread at the server: it was not the server", w.Viewer.LeastRecvQ)
		}
	})
}
