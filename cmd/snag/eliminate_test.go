package main

import (
	"bytes"
	"testing"

	"snag/load/elimination"
	"snag/report/loaded"
)

// What --here --json prints is what --server reads.
func TestServerReadsWhatHerePrints(t *testing.T) {
	t.Parallel()
	m := &elimination.Measures{Version: 1, Here: true, Target: "http://10.0.0.1/", Kept: &elimination.Asked{Times: elimination.Times{N: 40, P50: 0.079}}}
	var b bytes.Buffer
	if err := (loaded.Elimination{Measures: m, Story: elimination.Tell(m)}).JSON(&b); err != nil {
		t.Fatal(err)
	}
	got, err := readServer(&b, "-")
	if err != nil || got.Kept.P50 != 0.079 || got.Fresh != nil {
		t.Errorf("%+v, %v", got, err)
	}
}
