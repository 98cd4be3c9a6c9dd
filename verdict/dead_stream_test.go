package verdict

import (
	"testing"

	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
)

// A service that was stopped is the culprit for those who wait for it, however many streams are dead
// to which nothing leads. Of the harm of streams that somebody explains it is a small part.
func TestDeadStreamsMakeNoProvedCauseSmall(t *testing.T) {
	for want, explained := range map[State]bool{Culprit: false, Contributing: true} {
		stopped := &candidate{suspect: &suspect.Suspect{Name: "process-stopped"}, confidence: 0.9, finding: suspect.Finding{Subject: process(7)}}
		server := &candidate{suspect: &suspect.Suspect{Name: "server-stall"}, confidence: 0.9, finding: suspect.Finding{Subject: process(8)}}
		g := &graph{found: []*candidate{stopped, server}, out: map[*candidate][]edge{}, in: map[*candidate][]edge{}}
		g.symptoms = append(g.symptoms, scene.Symptom{Name: scene.RequestLatency, Subject: process(7), Held: 0.1})
		g.add(edge{from: stopped, symptom: 0, share: 1})
		for i := 1; i <= 3; i++ {
			g.symptoms = append(g.symptoms, scene.Symptom{Name: scene.StreamFreeze, Subject: recording.Subject{Kind: recording.KindStream, Name: "dead"}, Held: 1})
			if explained {
				g.add(edge{from: server, symptom: i, share: 1})
			}
		}
		g.settle()
		if stopped.state != want {
			t.Errorf("streams explained: %v: the stopped service is %s, want %s", explained, stopped.state, want)
		}
	}
}
