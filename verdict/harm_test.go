package verdict

import (
	"math"
	"testing"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
)

// All harms are on one scale: demands that are held up at a moment.
func TestHeldUp(t *testing.T) {
	web := recording.Subject{Kind: recording.KindListener, Netns: 1, Proto: "tcp", Local: "0.0.0.0:80"}
	l := &ledger.Ledger{Parties: []*ledger.Party{{Subject: web, Rate: 20, Open: 30}}}
	window := recording.Interval{Start: 0, End: 10e9}
	half := []recording.Interval{{Start: 0, End: 2e9}, {Start: 5e9, End: 8e9}}
	for name, c := range map[string]struct {
		sym  scene.Symptom
		want float64
	}{
		"what the ledger measured":        {scene.Symptom{Name: scene.RequestLatency, Held: 23, Share: 1}, 23},
		"half of 20 per second, 1 s late": {scene.Symptom{Name: scene.RequestLatency, Subject: web, Unit: "s", Amount: 1, Share: 0.5}, 10},
		"no more than are open":           {scene.Symptom{Name: scene.RequestLatency, Subject: web, Unit: "s", Amount: 9, Share: 1}, 30},
		"late, and nobody knows how many": {scene.Symptom{Name: scene.RequestLatency, Unit: "s", Amount: 9, Share: 0.4}, 0.4},
		"a few failures":                  {scene.Symptom{Name: scene.FailedAnswers, Amount: 3}, 0.3},
		"failures of who asks at once":    {scene.Symptom{Name: scene.ConnectionErrors, Amount: 4000}, 1},
		"a viewer's picture stopped":      {scene.Symptom{Name: scene.StreamFreeze, Amount: 4, Unit: "s"}, 0.4},
		"datagrams lost, half the time":   {scene.Symptom{Name: scene.DatagramsLost, Active: half, Amount: 9000}, 0.5},
		"a window held it for two thirds": {scene.Symptom{Name: scene.ThroughputPlateau, Active: half, Amount: 0.66}, 0.33},
		"next to nothing":                 {scene.Symptom{Name: scene.FailedAnswers, Amount: 0.1}, leastHeld},
	} {
		if got := heldUp(c.sym, l, window); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
