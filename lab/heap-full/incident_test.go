package heapfull

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"snag/internal/gclog"
	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// The JVM's own log: where the heap is nearly full it is collected as a whole again and
// again, for a tenth of the time and more, and what is left is most of it. With room that
// is rare, however often the young generation is collected.
func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		const watched = 5 * time.Second
		log := filepath.Join(s.Dir(), "gc.log")
		before, err := os.Stat(log)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(watched)
		raw, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		var r gclog.Reader
		n, young, took, least := 0, 0, 0.0, 1.0
		r.Feed(raw[before.Size():], func(e *gclog.Event) {
			switch {
			case e.Kind == gclog.Pause && e.Name == "Pause Full":
				n++
				took += e.Length.Seconds()
				least = min(least, float64(e.After)/float64(e.Total))
			case e.Kind == gclog.Pause:
				young++
			}
		})
		t.Logf("%s: %d full collections took %.2f s of %v and left %.0f %% at the least; %d young ones", v, n, took, watched, 100*least, young)
		full := n >= 5 && took >= 0.1*watched.Seconds() && least >= 0.7
		if full != (v == lab.Sick) || v != lab.Sick && took > 0.1*watched.Seconds() {
			t.Errorf("%s: the heap is full: %v", v, full)
		}
		if v == lab.Distractor && young < 10 {
			t.Errorf("%d young collections: nothing distracts", young)
		}
	})
}
