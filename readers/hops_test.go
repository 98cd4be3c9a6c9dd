package readers

import (
	"math"
	"reflect"
	"testing"

	"snag/recording"
)

func TestNetworkPartedByHops(t *testing.T) {
	q := recording.Request{Wait: 1, AtServer: 0.2, Network: 0.8, LostOut: 3, LostBack: 1}
	q.Hops = inTwo(&q, recording.Request{Network: 0.1, LostBack: 1}, "a", "b", "d")
	if want := []recording.Hop{{From: "a", To: "b", Network: 0.1, LostBack: 1}, {From: "b", To: "d", Network: 0.7, LostOut: 3}}; !reflect.DeepEqual(round(q.Hops), want) {
		t.Errorf("%+v", q.Hops)
	}
	q.Hops = inTwo(&q, recording.Request{Network: 0.6, LostBack: 1, LostOut: 2}, "a", "c", "d")
	if want := []recording.Hop{{From: "a", To: "b", Network: 0.1, LostBack: 1}, {From: "b", To: "c", Network: 0.5, LostOut: 2}, {From: "c", To: "d", Network: 0.2, LostOut: 1}}; !reflect.DeepEqual(round(q.Hops), want) {
		t.Errorf("%+v", q.Hops)
	}
	// A capture between that has more than both ends (it saw a copy) makes no hop negative.
	q = recording.Request{Network: 0.3}
	q.Hops = inTwo(&q, recording.Request{Network: 0.4, LostOut: 7}, "a", "b", "c")
	if want := []recording.Hop{{From: "a", To: "b", Network: 0.3}, {From: "b", To: "c"}}; !reflect.DeepEqual(round(q.Hops), want) {
		t.Errorf("%+v", q.Hops)
	}
}

func round(hops []recording.Hop) (out []recording.Hop) {
	for _, h := range hops {
		h.Network = math.Round(h.Network*1e9) / 1e9
		out = append(out, h)
	}
	return out
}
