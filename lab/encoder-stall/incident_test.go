package encoderstall

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
		if w.Stood() != (v != lab.Healthy) {
			t.Errorf("the longest gap at the viewer is %s", w.Viewer.Length)
		}
		switch v {
		case lab.Sick:
			err = w.NotTheEncoder()
		case lab.Distractor:
			err = w.NotTheServer()
		}
		if err != nil {
			t.Error(err)
		}
	})
}
