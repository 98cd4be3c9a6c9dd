package objects

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"snag/recorder"
)

// mostSends is how often an incident is sent at most; the last time is kept for its end.
const mostSends = 5

// longIncident is how long an incident goes on before it is sent without its end.
const longIncident = 5 * time.Minute

// one is what is known of an incident that is in the ring.
type one struct {
	Name string `json:"name"` // HOST/TIME-ID: a number may come again in an emptied ring
	// Sent is how often it was sent, Verdict which verdict was sent last, Over whether that was after its end.
	Sent    int    `json:"sent,omitempty"`
	Verdict string `json:"verdict,omitempty"`
	Over    bool   `json:"over,omitempty"`
}

// due reports whether an incident is to be sent now. over: it has ended, or its recorder has.
func due(i recorder.Incident, over bool, o one, now time.Time) bool {
	changed := verdictOf(i) != o.Verdict
	switch {
	case over:
		return !o.Over || changed && o.Sent < mostSends
	case o.Sent >= mostSends-1:
		return false
	case o.Sent == 0:
		return now.Sub(i.Start) >= longIncident
	}
	return changed
}

// verdictOf is equal for verdicts with the same culprits and symptoms of the same subjects. Numbers in their texts are
// not in it: they change with each judgement.
func verdictOf(i recorder.Incident) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %t %t\n", i.Standing, i.Hurt, i.Looked)
	for _, all := range [][]recorder.Named{i.Culprits, i.Symptoms} {
		for _, n := range all {
			fmt.Fprintf(sum, "%q %q %q\n", n.Name, n.Subject, n.Beyond)
		}
		fmt.Fprintln(sum)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
