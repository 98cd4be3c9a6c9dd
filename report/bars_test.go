package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"snag/ledger"
	"snag/verdict"
)

// A bar is as wide as all of the time, whatever the shares, and the culprit's part of an account
// stands in front of the rest of it.
func TestBar(t *testing.T) {
	one := &ledger.Party{Demand: 8, Entries: []ledger.Entry{{Account: ledger.Lock, Seconds: 4}, {Account: ledger.Work, Seconds: 2}, {Account: ledger.Unseen, Seconds: 2}}}
	got := bar(one, map[ledger.Account]verdict.Claim{ledger.Lock: {Share: 0.25}})
	n := barWidth / 4
	want := strings.Repeat(inkClaimed, n) + strings.Repeat(inkDelay, n) + strings.Repeat(inkRest, n) + strings.Repeat(inkUnseen, n)
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	thirds := &ledger.Party{Demand: 7}
	for range 7 {
		thirds.Entries = append(thirds.Entries, ledger.Entry{Account: ledger.Call, Where: strings.Repeat("x", len(thirds.Entries)), Seconds: 1})
	}
	if n := utf8.RuneCountInString(bar(thirds, nil)); n != barWidth {
		t.Errorf("%d columns", n)
	}
}

func TestWhatACulpritHoldsUp(t *testing.T) {
	for _, c := range []struct {
		h    *verdict.Holding
		want string
	}{
		{nil, ""},
		{&verdict.Holding{Requests: 3.14, Share: 0.75}, "holds up 3.1 requests on average, 75 % of their waiting"},
		{&verdict.Holding{Requests: 23.4, Share: 1, AtMost: true}, "holds up at most 23 requests on average, 100 % of their waiting"},
	} {
		if got := heldUp(c.h); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
