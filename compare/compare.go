// Package compare says how two recordings differ by more than chance: two times, two hosts or two
// releases. A is the better or older one, B is judged by it.
package compare

import (
	"cmp"
	"slices"

	"snag/internal/sorting"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
)

// Comparison is how B differs from A.
type Comparison struct {
	A, B *recording.Recording
	// Together: they are of the same time, and each of one URL.
	Together bool
	// MuteA and MuteB are why a URL gave no answer, or no frame; "" where it did.
	MuteA, MuteB string
	// Parties that both have and whose answers can be compared, the greatest change first.
	Parties []Party
	// Amounts are counts and times per second that changed by more than chance does.
	Amounts []Amount
	// Streams that gave frames in both. Lost gave frames in A, and none in B or none any more.
	Streams []Stream
	Lost    []Lost
	Felt    []Felt
	// Settings that differ, and programs and libraries that are other builds.
	Settings, Builds []Setting
	// OnlyA and OnlyB are parties with answers that the other recording does not have.
	OnlyA, OnlyB []string
	// TooFew are parties that were in both, with too few answers to compare them, and streams with
	// too few seconds.
	TooFew []string
	// Stopped had answers in A and have none in B, or nearly none, though they are asked. Quiet are
	// those that nobody was seen to ask in B: they are not worse, and not as good either.
	Stopped, Quiet []Silent
	// Gone are services with answers in A that do not run in B, and that nobody tried to reach there:
	// they are among OnlyA.
	Gone []Silent
	// OneSided is what only one recording measured, and was not compared.
	OneSided []string
	// Compared is how many figures were compared: all intervals together hold in 95 % of all
	// comparisons.
	Compared int
}

// Outcome is what a comparison comes to.
type Outcome string

// Outcomes.
const (
	Worse    Outcome = "worse"      // B takes longer, fails or loses more
	AsGood   Outcome = "as good"    // it was measured, and nothing got worse by more than chance
	CantTell Outcome = "can't tell" // nothing that both have could be compared, a service was not asked in B or is not there, or a stream was worse there once
)

// Outcome reports whether B is worse than A.
func (c *Comparison) Outcome() Outcome {
	switch {
	case c.MuteA != "":
		return CantTell
	case c.MuteB != "":
		return Worse
	}
	if len(c.Stopped) > 0 || len(c.Lost) > 0 {
		return Worse
	}
	if slices.ContainsFunc(c.Parties, func(p Party) bool { return p.Worse() }) {
		return Worse
	}
	if slices.ContainsFunc(c.Amounts, Amount.Worse) {
		return Worse
	}
	if len(c.Parties)+len(c.Streams) == 0 || len(c.Quiet) > 0 || len(c.Gone) > 0 || len(c.Felt) > 0 {
		return CantTell
	}
	return AsGood
}

// Of compares two recordings.
func Of(a, b *recording.Recording) *Comparison { return of(a, b, false) }

// Together compares two recordings of the same time, each of one URL: what is called otherwise there
// is the same stream.
func Together(a, b *recording.Recording) *Comparison { return of(a, b, true) }

func of(a, b *recording.Recording, together bool) *Comparison {
	sa, sb := scene.Build(a), scene.Build(b)
	c := &Comparison{A: a, B: b, Together: together}
	tests := c.parties(ledger.Build(sa, a), ledger.Build(sb, b))
	amounts, oneSided := amountsOf(a, b)
	c.OneSided = oneSided
	tests += c.streams(sa, sb, together)
	if together {
		c.MuteA = noFrame(sa)
		c.MuteB = noFrame(sb)
	}
	if !both(a, b, "sockets.turns", "requests and answers", &c.OneSided) {
		c.OnlyA, c.OnlyB, c.Stopped, c.Quiet, c.Gone = nil, nil, nil, nil, nil // it may be there all the same
	}
	c.Compared = tests + len(amounts)
	for i := range c.Parties {
		c.Parties[i].judge(c.Compared)
	}
	sorting.StableBy(c.Parties, func(x, y Party) int { return cmp.Compare(y.weight(), x.weight()) })
	c.judgeStreams()
	c.feltByChance()
	for _, one := range amounts {
		one.Change.judge(c.Compared)
		if one.Change.Differs() {
			c.Amounts = append(c.Amounts, one)
		}
	}
	c.Settings, c.Builds = settings(a, b), builds(a, b)
	return c
}
