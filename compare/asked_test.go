package compare

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"snag/recording"
)

// drawnAnswers are those of a service that is asked five times per second for 30 s.
func drawnAnswers(r *rand.Rand, mean, failing float64) (out []Asked) {
	for i := range 150 {
		one := Asked{At: float64(i) / 5, Took: mean * r.ExpFloat64()}
		if one.Failed = r.Float64() < failing; one.Failed {
			one.Why = "it answers with 503"
		}
		out = append(out, one)
	}
	return out
}

// Of two services that are alike one in twenty may be called worse; twice the time and every fifth answer an
// error must be found, and the better one is no worse.
func TestAnswersOfTwoURLs(t *testing.T) {
	at := &recording.Recording{Manifest: recording.Manifest{Start: 1e18}}
	at.Manifest.End = at.Manifest.Start.Add(30 * time.Second)
	const comparisons = 200
	r := rand.New(rand.NewPCG(5, 9)) //nolint:gosec // the same draws each time
	for _, c := range []struct {
		mean, failing float64
		least, most   float64
	}{{0.02, 0, 0, 0.05}, {0.04, 0, 0.95, 1}, {0.02, 0.2, 0.95, 1}, {0.01, 0, 0, 0.01}} {
		found := 0
		for range comparisons {
			got := Answers(at, at, "http://a/", "http://b/", drawnAnswers(r, 0.02, 0), drawnAnswers(r, c.mean, c.failing))
			if got.Outcome() == Worse {
				found++
			}
			if len(got.Parties) != 1 || Name(got.Parties[0].B) != "http://b/" {
				t.Fatalf("%v", got.Parties)
			}
		}
		t.Logf("%+v: %d of %d", c, found, comparisons)
		if share := float64(found) / comparisons; share < c.least || share > c.most {
			t.Errorf("%+v: found in %.3f of the comparisons", c, share)
		}
	}
}

// A URL that does not answer leaves it open if it is A's, and is worse if it is B's; one that was asked too
// seldom can't be told of.
func TestURLsThatDoNotAnswer(t *testing.T) {
	at := &recording.Recording{Manifest: recording.Manifest{Start: 1e18}}
	at.Manifest.End = at.Manifest.Start.Add(30 * time.Second)
	r := rand.New(rand.NewPCG(5, 9)) //nolint:gosec // the same draws each time
	well := drawnAnswers(r, 0.02, 0)
	none := slices.Clone(well)
	for i := range none {
		none[i].Failed, none[i].None, none[i].Why = true, true, "connection refused"
	}
	for name, c := range map[string]struct {
		a, b         []Asked
		want         Outcome
		muteA, muteB string
	}{
		"A refuses":       {none, well, CantTell, "connection refused", ""},
		"B refuses":       {well, none, Worse, "", "connection refused"},
		"both refuse":     {none, none, CantTell, "connection refused", "connection refused"},
		"B gives errors":  {well, drawnAnswers(r, 0.02, 1), Worse, "", "it answers with 503"},
		"B answered none": {well, nil, Worse, "", "no request was answered within the time"},
		"few":             {well, well[:20], CantTell, "", ""},
		"alike":           {well, well, AsGood, "", ""},
	} {
		got := Answers(at, at, "http://a/", "http://b/", c.a, c.b)
		if got.Outcome() != c.want || got.MuteA != c.muteA || got.MuteB != c.muteB {
			t.Errorf("%s: %s, %q, %q", name, got.Outcome(), got.MuteA, got.MuteB)
		}
	}
}
