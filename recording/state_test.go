package recording

import (
	"testing"
	"time"
)

// No event tells that a control group has gone, so its limit is written again in each piece.
func TestGroupsThatAreNotWrittenAgainGo(t *testing.T) {
	at := func(s int) Time { return Time(time.Duration(s) * time.Second) }
	var s State
	s.Take(Cgroup{T: at(0), Path: "/gone", Quota: 0.1, Period: 0.1})
	s.Take(Cgroup{T: at(0), Path: "/stays", Quota: 0.1, Period: 0.1})
	kept := func() (out []string) {
		s.Rows(func(row Row) bool {
			out = append(out, row.(Cgroup).Path)
			return true
		})
		return out
	}
	for _, turn := range []int{60, 120} {
		s.Prune(at(turn), time.Minute)
		s.Take(Cgroup{T: at(turn + 1), Path: "/stays", Quota: 0.1, Period: 0.1})
	}
	if all := kept(); len(all) != 2 {
		t.Errorf("after two minutes: %v; a probe may be late", all)
	}
	s.Prune(at(180), time.Minute)
	if all := kept(); len(all) != 1 || all[0] != "/stays" {
		t.Errorf("after three minutes: %v", all)
	}
}
