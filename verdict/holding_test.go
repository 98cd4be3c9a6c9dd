package verdict

import (
	"math"
	"testing"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
)

// A culprit holds up what is booked to its accounts, at whoever it hurts, and no more.
func TestHolding(t *testing.T) {
	part := func(a ledger.Account, share float64) ledger.Part { return ledger.Part{Account: a, Share: share} }
	shop := &ledger.Party{Role: ledger.Serves, Subject: process(7)}
	ways := &ledger.Party{Role: ledger.Calls, Subject: process(7)}
	page := &ledger.Party{Role: ledger.Serves, Subject: process(8)}
	v := &Verdict{Recording: &recording.Recording{}, Scene: &scene.Scene{},
		Ledger: &ledger.Ledger{Parties: []*ledger.Party{shop, ways, page}, Felt: []ledger.Delay{
			{Party: shop, Held: 8, Share: 0.5, By: []ledger.Part{part(ledger.Lock, 0.75), part(ledger.Disk, 0.25)}},
			{Party: ways, Held: 1, Share: 0.9, By: []ledger.Part{part(ledger.Queue, 1)}},
			{Party: page, Held: 2, Share: 0.8, By: []ledger.Part{part(ledger.Call, 0.5), part(ledger.Unread, 0.5)}, Behind: []ledger.Part{part(ledger.Lock, 0.4)}},
		}},
		Symptoms: []scene.Symptom{{Name: scene.RequestLatency, Subject: process(7)}, {Name: scene.RequestLatency, Subject: process(8)}},
	}
	entry := func(explains []int, claims ...ledger.Account) Entry {
		return Entry{ID: "x#1", State: Culprit, Suspect: &suspect.Suspect{Name: "x", Claims: claims}, Explains: explains}
	}
	for _, c := range []struct {
		what            string
		e               Entry
		requests, share float64
		atMost          bool
	}{
		{"three quarters of one party's", entry([]int{0}, ledger.Lock), 6, 0.75, false},
		{"of the caller what goes on behind the call, and what may", entry([]int{0, 1}, ledger.Lock), 6 + 1.8, 7.8 / 10, false},
		{"what was seen is most of it", entry([]int{1}, ledger.Call), 1, 0.5, false},
		{"most of it may be anything", entry([]int{1}, ledger.Disk), 1, 0.5, true},
		{"the way to it, which is little of all", entry([]int{0}, ledger.Queue), 1, 0.125, false},
	} {
		v.Entries = []Entry{c.e}
		v.hold()
		h := v.Entries[0].Holding
		if h == nil || math.Abs(h.Requests-c.requests) > 1e-9 || math.Abs(h.Share-c.share) > 1e-9 || h.AtMost != c.atMost {
			t.Errorf("%s: %+v", c.what, h)
		}
	}
	for _, e := range []Entry{entry([]int{0}), entry([]int{0}, ledger.Nagle)} {
		v.Entries = []Entry{e}
		if v.hold(); v.Entries[0].Holding != nil {
			t.Errorf("claims %v: %+v", e.Suspect.Claims, v.Entries[0].Holding)
		}
	}
	v.Entries = []Entry{entry([]int{0, 1}, ledger.Lock)}
	v.hold()
	for p, want := range map[*ledger.Party]map[ledger.Account]float64{shop: {ledger.Lock: 0.375}, page: {ledger.Call: 0.32, ledger.Unread: 0.4}, ways: {}} {
		got := v.Claims(p)
		if len(got) != len(want) {
			t.Errorf("claims of %v: %v", want, got)
		}
		for a, share := range want {
			if math.Abs(got[a].Share-share) > 1e-9 || got[a].ID != "x#1" {
				t.Errorf("%s: %+v, want %.3f", a, got[a], share)
			}
		}
	}
}
