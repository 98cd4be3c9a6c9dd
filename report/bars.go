package report

import (
	"fmt"
	"math"
	"strings"

	"snag/ledger"
	"snag/verdict"
)

// Where the time of a party's requests went is drawn in this many columns.
const barWidth = 48

// The ink of a bar: what a culprit explains, other delay, what the service consists of, and what
// nobody saw.
const (
	inkClaimed = "█"
	inkDelay   = "▓"
	inkRest    = "░"
	inkUnseen  = "·"
)

// bar draws the accounts of a party, in the order in which they are listed, with the culprits' part
// of each in front.
func bar(one *ledger.Party, claims map[ledger.Account]verdict.Claim) string {
	var b strings.Builder
	at, done := 0.0, 0
	draw := func(share float64, ink string) {
		at += share
		next := min(barWidth, int(math.Round(at*barWidth)))
		b.WriteString(strings.Repeat(ink, max(0, next-done)))
		done = max(done, next)
	}
	for _, e := range together(one.Entries) {
		share := e.Seconds / one.Demand
		claimed := min(share, claims[e.Account].Share)
		draw(claimed, inkClaimed)
		draw(share-claimed, inkOf(e.Account))
	}
	return b.String()
}

func inkOf(a ledger.Account) string {
	switch {
	case a == ledger.Unseen:
		return inkUnseen
	case a.Delay():
		return inkDelay
	}
	return inkRest
}

// heldUp says how many requests an entry holds up, and what share of their waiting it is; "" where
// nobody can tell.
func heldUp(h *verdict.Holding) string {
	if h == nil {
		return ""
	}
	most := ""
	if h.AtMost {
		most = "at most "
	}
	return fmt.Sprintf("holds up %s%s on average, %.0f %% of their waiting", most, verdict.Requests(h.Requests), 100*h.Share)
}
