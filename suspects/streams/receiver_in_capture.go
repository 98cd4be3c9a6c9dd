package streams

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// shutInCapture are receivers of a capture that offered no window while their sender had more to
// send. One that holds up a relay's other consumers is slow-consumer's.
func shutInCapture(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	relays := map[string]bool{}
	for _, c := range consumersInCapture(s, r) {
		if len(c.frozen) > len(c.flowing) {
			relays[c.socket.First().Local] = true
			if c.ingest != nil { // what feeds them stood as well
				relays[c.ingest.First().Remote] = true
			}
		}
	}
	for _, w := range scene.ShutWays(r) {
		if relays[w.Sender] || relays[w.Receiver] {
			continue
		}
		length := w.Flow.End.Sub(w.Flow.T).Seconds()
		shut := units.Lasting(w.Way.WindowShut)
		f := suspect.Finding{Subject: w.Subject(s), Active: scene.SpansOf([]recording.Flow{w.Flow}),
			Related: []recording.Subject{{Kind: recording.KindPeer, Netns: w.Flow.Netns, Proto: "tcp", Remote: w.Receiver}},
			Text:    fmt.Sprintf("%s does not read what %s sends: it offered no window for %s of %s", w.Receiver, w.Sender, shut, units.Lasting(length)),
			Next:    fmt.Sprintf("on %s: snag find; ss -tnp 'sport = :%s'   # Recv-Q", recording.Host(w.Receiver), recording.Port(w.Receiver)),
			Evidence: []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Value: w.Way.WindowShut, Unit: "s", Source: source.File(measure.Captured + ": windows"), Origin: "window",
				Text: fmt.Sprintf("%s offered no window %s, for %s in all, %s at the longest; %s had more to send", w.Receiver, units.Times(int(w.Way.Shut)), shut, units.Lasting(w.Way.ShutMax), w.Sender)}}}
		f.Remedy = suspect.Remedy{Program: fmt.Sprintf("The program behind %s: less work for each message, or on another thread than the one that reads.", w.Receiver)}
		out = append(out, f)
	}
	return out
}
