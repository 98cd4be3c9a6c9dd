package verdict

import (
	"slices"
	"sort"

	"snag/recording"
)

// settle gives every candidate its state: what another leads to is a
// consequence; the roots that explain the most harm are culprits, taken until
// every symptom is covered, the target's first; the other roots that explain something contribute;
// a root that explains nothing is a risk.
func (g *graph) settle() {
	var roots []*candidate
	for _, c := range g.found {
		if len(g.in[c]) > 0 {
			c.state, c.explainedBy = Consequence, strongest(g.in[c])
			continue
		}
		roots = append(roots, c)
	}
	for _, g.judging = range []whose{targets, others} {
		roots = g.accuse(roots)
	}
	g.judging = anybodys
	for _, c := range roots {
		c.state = Contributing
		if len(g.explains(c)) == 0 {
			c.state = Risk
		}
	}
	// What a mere risk leads to and hurts nobody is a risk as well.
	for _, c := range g.found {
		if c.state == Consequence && len(g.explains(c)) == 0 {
			c.state = Risk
		}
		c.elsewhere = c.elsewhere || g.elsewhere(c)
	}
}

// accuse makes culprits of the roots that explain most of the symptoms that are judged, and
// returns the others.
func (g *graph) accuse(roots []*candidate) (rest []*candidate) {
	covered, least := map[int]float64{}, shareOfAll*g.harm()
	for len(roots) > 0 {
		best, gain := -1, 0.0
		for i, c := range roots {
			if g.onWordsAlone(c) || g.mostOf(c) < mostOfOne {
				continue
			}
			if w := g.gain(c, covered); w > gain {
				best, gain = i, w
			}
		}
		if best < 0 || gain < least {
			break
		}
		c := roots[best]
		roots = append(roots[:best], roots[best+1:]...)
		g.blame(c)
		for i, share := range g.explains(c) {
			covered[i] += share
		}
	}
	for _, c := range roots {
		if g.ownShare(c) >= shareOfCulprit || g.ownOnsets(c) >= shareOfCulprit {
			g.blame(c)
			continue
		}
		rest = append(rest, c)
	}
	return rest
}

// blame makes a candidate a culprit: elsewhere, where the symptoms are and it is no part of the
// target.
func (g *graph) blame(c *candidate) {
	c.state, c.elsewhere = Culprit, g.judging == others && !g.scope.has(c.finding.Subject)
}

// onWordsAlone: nobody measured a harm of it, and all that it would explain is
// what the user reported. Words don't tell which socket: a stopped editor would
// be blamed for any freeze.
func (g *graph) onWordsAlone(c *candidate) bool {
	if c.finding.Harm.Amount > 0 || g.toldInTime(c) {
		return false
	}
	for i := range g.explains(c) {
		if g.symptoms[i].Subject.Kind != recording.KindHost {
			return false
		}
	}
	return true
}

// shareOfCulprit: a second root with this much of a symptom's harm, measured as
// its own, or of its onsets, which no culprit explains, is a second culprit and
// not a contribution.
const shareOfCulprit = 0.2

// provenGain: between two roots of like harm and like confidence, the one on which
// the symptom's onsets fall goes first.
const provenGain = 1.2

// mostOfOne: who explains less of each delay is no culprit, even if nobody explains the rest.
const mostOfOne = 0.25

// mostOf is the greatest share of a symptom that a candidate explains.
func (g *graph) mostOf(c *candidate) (most float64) {
	for _, share := range g.explains(c) {
		most = max(most, share)
	}
	return most
}

// shareOfAll: a root that explains less of all harm is no culprit.
const shareOfAll = 0.05

// restFelt: of a symptom less than this is nothing that needs another culprit.
const restFelt = 0.2

// gain is the harm of the symptoms that c would newly explain.
func (g *graph) gain(c *candidate, covered map[int]float64) float64 {
	sum := 0.0
	for i, share := range g.explains(c) {
		if rest := 1 - covered[i]; rest >= restFelt {
			sum += g.symptoms[i].Held * min(share, rest)
		}
	}
	if g.provenInTime(c) {
		sum *= provenGain
	}
	return sum * c.confidence
}

// harm is that of all symptoms, but for streams to which nothing leads: a viewer whose stream is
// dead makes the harm that somebody else is proved to suffer no smaller.
func (g *graph) harm() (sum float64) {
	led := map[int]bool{}
	for _, c := range g.found {
		for i := range g.explains(c) {
			led[i] = true
		}
	}
	for i, s := range g.symptoms {
		if g.counts(i) && (led[i] || s.Subject.Kind != recording.KindStream) {
			sum += s.Held
		}
	}
	return sum
}

// ownShare is the greatest share that the candidate's own measured harm has in a
// symptom that it explains.
func (g *graph) ownShare(c *candidate) float64 {
	share := 0.0
	for i := range g.explains(c) {
		s := g.symptoms[i]
		if s.Name == c.finding.Harm.Symptom && sameUnit(s.Unit, c.finding.Harm.Unit) && s.Amount > 0 {
			share = max(share, c.finding.Harm.Amount/s.Amount)
		}
	}
	return share
}

// attempts are units of which each stands for one attempt of a client: a connection that failed is an
// error of a call, and a request without an answer.
var attempts = []string{"connections", "errors", "requests"}

func sameUnit(a, b string) bool {
	return a == b || slices.Contains(attempts, a) && slices.Contains(attempts, b)
}

// ownOnsets is the greatest share of a symptom's onsets that fall on the
// candidate, more often than by chance, and on no culprit that is named already.
func (g *graph) ownOnsets(c *candidate) float64 {
	share := 0.0
	for _, e := range g.out[c] {
		if e.to != nil || !g.counts(e.symptom) || !e.coincidence.part() {
			continue
		}
		own := 0
		for i, hit := range e.coincidence.hit {
			if hit && !g.culpritHits(e.symptom, i) {
				own++
			}
		}
		if own >= fewOnsets {
			share = max(share, float64(own)/float64(len(e.coincidence.hit)))
		}
	}
	return share
}

// culpritHits reports whether an onset of a symptom falls on a culprit, or may do so
// as that one's times tell nothing.
func (g *graph) culpritHits(symptom, onset int) bool {
	for _, c := range g.found {
		if c.state != Culprit {
			continue
		}
		for _, e := range g.out[c] {
			if e.to == nil && e.symptom == symptom && (!e.coincidence.Telling() || e.coincidence.hit[onset]) {
				return true
			}
		}
	}
	return false
}

// strongest is the cause that explains best: one whose times prove it before the
// others, then the surest.
func strongest(in []edge) *candidate {
	best := in[0]
	for _, e := range in[1:] {
		a, b := e.coincidence.Proves(), best.coincidence.Proves()
		if a && !b || a == b && e.from.confidence > best.from.confidence {
			best = e
		}
	}
	return best.from
}

var stateOrder = map[State]int{Culprit: 0, Contributing: 1, Consequence: 2, Risk: 3, NotSeen: 4, Cleared: 5}

// weighed: it was found, and is no suspect that was cleared or could not be seen.
func (e Entry) weighed() bool { return e.State != NotSeen && e.State != Cleared }

func sortEntries(all []Entry) {
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		if a.Elsewhere != b.Elsewhere && a.weighed() && b.weighed() {
			return b.Elsewhere
		}
		if stateOrder[a.State] != stateOrder[b.State] {
			return stateOrder[a.State] < stateOrder[b.State]
		}
		if a.State == Culprit && (a.Suspect.Name == observerName) != (b.Suspect.Name == observerName) {
			return a.Suspect.Name == observerName
		}
		if a.State == Culprit && a.ofStream != b.ofStream {
			return a.ofStream > b.ofStream
		}
		if a.Held != b.Held {
			return a.Held > b.Held
		}
		return a.Confidence > b.Confidence
	})
}
