package report

import (
	"testing"

	"snag/recording"
)

// The first lines say of the request how long it took, and how often it was not answered.
func TestTheRequestOfExperiments(t *testing.T) {
	for want, row := range map[string]recording.Experiment{
		"half within 4 ms": {Experiment: "request", Shows: "half within 4 ms", Tried: 12},
		"half within 4 ms, 3 of 12 attempts not answered": {Experiment: "request", Shows: "half within 4 ms", Tried: 12, Failed: 3},
		"2 of 2 attempts not answered":                    {Experiment: "request", Tried: 2, Failed: 2},
		"":                                                {Experiment: "port", Shows: "0 of 8 answered"},
	} {
		if got := requestText(row); got != want {
			t.Errorf("%+v: %q, want %q", row, got, want)
		}
	}
}
