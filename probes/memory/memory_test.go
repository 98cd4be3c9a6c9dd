package memory

import (
	"testing"

	"snag/recording"
)

func TestEvent(t *testing.T) {
	results := map[uint64]string{2: "COMPACT_SKIPPED", 8: "COMPACT_SUCCESS"}
	s := stall{kernelStallKey{Begin: 1e9, Tid: 61, Kind: compaction}, kernelStallValue{End: 15e8, Tgid: 60, Order: 9, Status: 8, Comm: [16]uint8{'a', 'p', 'i'}}}
	e := s.event(recording.Anchor{}, results)
	if e.Kind != recording.EventCompaction || e.Value != 0.5 || e.Attrs["order"] != "9" || e.Attrs["status"] != "success" || e.Subject.TID != 61 || e.Subject.Comm != "api" || e.End != 15e8 {
		t.Errorf("%+v", e)
	}
	s.value.Status, s.value.Order = 77, -1
	if e = s.event(recording.Anchor{}, results); e.Attrs["status"] != "77" || e.Attrs["order"] != "" {
		t.Errorf("what has no name: %+v", e)
	}
	s.key.Kind, s.value.Status = groupReclaim, -1
	if e = s.event(recording.Anchor{}, results); e.Kind != recording.EventReclaim || e.Attrs["limit"] != "control group" || e.Attrs["status"] != "" {
		t.Errorf("%+v", e)
	}
}

func TestLongest(t *testing.T) {
	at := func(begin, took uint64) stall {
		return stall{kernelStallKey{Begin: begin}, kernelStallValue{End: begin + took}}
	}
	got, left := longest([]stall{at(3, 10), at(1, 5), at(2, 20), at(4, 1)}, 2)
	if left != 2 || len(got) != 2 || got[0].key.Begin != 2 || got[1].key.Begin != 3 {
		t.Errorf("%+v, %d left", got, left)
	}
}
