package measure

import (
	"testing"

	"snag/recording"
)

func TestWorstHop(t *testing.T) {
	network := func(h recording.Hop) float64 { return h.Network }
	var s hopSums
	if _, _, ok := s.worst(network); ok {
		t.Error("of no hops one is named")
	}
	s.add(recording.Request{Hops: []recording.Hop{{From: "a", To: "b", Network: 0.1, LostOut: 1}, {From: "b", To: "c", Network: 0.5}}})
	s.add(recording.Request{Hops: []recording.Hop{{From: "a", To: "b", Network: 0.1}, {From: "b", To: "c", Network: 0.5, LostBack: 2}}})
	s.add(recording.Request{}) // on two captures alone
	if hop, share, ok := s.worst(network); !ok || hop.From != "b" || hop.Network != 1 || share < 0.83 || share > 0.84 {
		t.Errorf("%+v %v %v", hop, share, ok)
	}
	if hop, _, ok := s.worst(func(h recording.Hop) float64 { return float64(h.LostOut + h.LostBack) }); ok {
		t.Errorf("two of three lost segments are not nearly all: %+v", hop)
	}
	if hop, _, ok := s.worst(func(h recording.Hop) float64 { return float64(h.LostBack) }); !ok || hop.LostBack != 2 {
		t.Errorf("%+v", hop)
	}
}
