package verdict

import (
	"slices"
	"time"

	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/suspect"
)

// slack is by how much a cause may seem to begin after its effect: both are
// sampled once a second, and a sample may be a tick late.
const slack = 2 * time.Second

// edge is "from leads to to", held by the scene and by time.
type edge struct {
	from        *candidate
	to          *candidate // one of to and symptom is set
	symptom     int        // index, −1 if to is set
	share       float64    // of the symptom's harm that it can explain, by what was booked
	coincidence Coincidence
}

// graph is the candidates and symptoms of one recording and what leads to what.
type graph struct {
	scene    *scene.Scene                      // nil where it is of several hosts
	scope    *scope                            // what the target is; nil where none was named
	judging  whose                             // symptoms count now
	windows  map[*candidate]recording.Interval // then, of each candidate its host's
	found    []*candidate
	symptoms []scene.Symptom
	doubts   []string // what could not be told of two hosts
	out      map[*candidate][]edge
	in       map[*candidate][]edge
}

// windowOf is the time over which a candidate was weighed.
func (g *graph) windowOf(c *candidate) recording.Interval {
	if g.scene == nil {
		if c.window.End != 0 {
			return c.window
		}
		return g.windows[c]
	}
	return c.windowIn(g.scene)
}

func connect(s *scene.Scene, found []*candidate, symptoms []scene.Symptom, delays map[scene.NodeID][]ledger.Delay) *graph {
	g := &graph{scene: s, found: found, symptoms: symptoms, out: map[*candidate][]edge{}, in: map[*candidate][]edge{}}
	var late []edge
	for _, a := range found {
		window := a.windowIn(s)
		for _, b := range found {
			if a == b {
				continue
			}
			lead, ok := leadsTo(a.suspect, b.suspect.Name)
			if !ok || slices.Contains(b.finding.NotBy, a.suspect.Name) || slices.Contains(a.finding.NotTo, b.suspect.Name) || a.onset > max(b.onset, window.Start).Add(slack) {
				continue
			}
			onsets, seen := onsetsIn(b.finding.Active, window, s.Window)
			if !seen {
				continue
			}
			c := Coincide(a.finding.Active, onsets, window, lead.Lag)
			tied := touches(s, a.finding, append([]recording.Subject{b.finding.Subject}, b.finding.Related...))
			if tied && !c.Refutes() || !tied && byLog(a, b.finding.Subject) && c.Proves() {
				g.add(edge{from: a, to: b, symptom: -1, share: 1, coincidence: c})
			}
		}
		for i, sym := range symptoms {
			lead, ok := leadsTo(a.suspect, sym.Name)
			own := a.finding.Harm.Symptom == sym.Name && a.finding.Harm.Amount > 0 && !tooLittle(a.finding.Harm, sym)
			if sym.Name == Reported {
				ok = true
			}
			share := a.finding.Most(booked(a.suspect, sym, delays)) * withinLag(a.finding, sym, lead, window)
			if !ok && !own || slices.Contains(a.finding.NotTo, sym.Name) || spares(a.finding, sym, window) || share < leastBooked || wasOver(a.finding.Active, sym) {
				continue
			}
			onsets, seen := onsetsIn(sym.Active, window, s.Window)
			if !seen {
				continue
			}
			tied := touches(s, a.finding, []recording.Subject{sym.Subject})
			e := edge{from: a, symptom: i, share: share, coincidence: Coincide(a.finding.Active, onsets, window, lead.Lag)}
			switch {
			case !tied:
				if byLog(a, sym.Subject) && e.coincidence.Proves() {
					g.add(e)
				}
			case tooLate(a, sym.Onset, window):
				if part := fromThenOn(a, sym, e.coincidence, s.Window, lead.Lag); part >= mostFromThen {
					e.share *= part
					g.add(e)
				} else if e.coincidence.part() {
					late = append(late, e)
				}
			case !e.coincidence.Refutes():
				g.add(e)
			}
		}
	}
	g.addParts(late)
	g.breakLoops()
	return g
}

// tooLittle reports whether a harm that a finding measured on a connection is no tenth of
// what a stream was seen to suffer, frame by frame: 11 ms a write do not make it come
// 1.4 s late.
func tooLittle(h suspect.Harm, sym scene.Symptom) bool {
	return sym.Subject.Kind == recording.KindStream && h.Unit == sym.Unit && h.Amount < 0.1*sym.Amount
}

// spares reports whether a finding was measured not to be what makes a party late.
func spares(f suspect.Finding, sym scene.Symptom, window recording.Interval) bool {
	if sym.Tried && sym.Name == scene.RequestLatency && notTheMedian(f, sym, window) {
		return true
	}
	return sym.Name == scene.RequestLatency && slices.ContainsFunc(f.Spares, func(s recording.Subject) bool { return scene.IDOf(s) == scene.IDOf(sym.Subject) })
}

// addParts adds causes that began after the symptom did and that later onsets of it
// fall on: they cause a part, where the earlier onsets have a cause of their own.
// What began after all that is known of the symptom's cause is none.
func (g *graph) addParts(late []edge) {
	var keep []edge
	for _, l := range late {
		for _, a := range g.found {
			for _, e := range g.out[a] {
				if a != l.from && e.to == nil && e.symptom == l.symptom && e.coincidence.hit != nil && e.coincidence.hit[0] {
					keep = append(keep, l)
				}
			}
		}
	}
	for i, l := range keep {
		if i == 0 || keep[i-1].from != l.from || keep[i-1].symptom != l.symptom {
			g.add(l)
		}
	}
}

// tooLate reports that a began after the symptom did. Of a symptom that began before
// the recording it is told by the recording's start: a cause that was seen once,
// and later, was not it. One that comes again and again did so before, too.
func tooLate(a *candidate, onset recording.Time, window recording.Interval) bool {
	if onset < window.Start {
		onset = window.Start
		if len(a.finding.Active) >= fewOnsets {
			return false
		}
	}
	return a.onset > onset.Add(slack)
}

// fromThenOn is the share of a symptom, in time, that began no earlier than a cause did. It is 0 unless two
// or more of its onsets did, and all of these fall on the cause. An onset before may follow an earlier
// time of the cause that nobody recorded, if it comes no later after the recording's start than an effect
// may come after its cause.
func fromThenOn(a *candidate, sym scene.Symptom, c Coincidence, window recording.Interval, lag time.Duration) float64 {
	if len(c.hit) != len(sym.Active) || c.Covered >= coversAll {
		return 0
	}
	var then []recording.Interval
	for i, span := range sym.Active {
		if span.Start < a.onset.Add(-slack) && span.Start <= window.Start.Add(lag) {
			continue
		}
		if !c.hit[i] {
			return 0
		}
		then = append(then, span)
	}
	if len(then) < 2 {
		return 0
	}
	return intervals.Seconds(then, window.End) / intervals.Seconds(sym.Active, window.End)
}

// mostFromThen: a cause of less of a symptom is a part of it at most.
const mostFromThen = 0.5

func (g *graph) add(e edge) {
	g.out[e.from] = append(g.out[e.from], e)
	if e.to != nil {
		g.in[e.to] = append(g.in[e.to], e)
	}
}

// breakLoops drops, of two causes that lead to each other, the edge from the one
// that began later, is less sure, or has less to show.
func (g *graph) breakLoops() {
	for _, a := range g.found {
		for _, e := range g.out[a] {
			if e.to == nil || !g.reaches(e.to, a, map[*candidate]bool{}) {
				continue
			}
			if later(a, e.to) {
				g.drop(a, e.to)
			} else {
				g.drop(e.to, a)
			}
		}
	}
}

func later(a, b *candidate) bool {
	if d := a.onset.Sub(b.onset); d > slack || d < -slack {
		return d > 0
	}
	if a.confidence != b.confidence {
		return a.confidence < b.confidence
	}
	return len(a.finding.Evidence) < len(b.finding.Evidence) // the one of which more was seen is the cause
}

func (g *graph) reaches(from, to *candidate, seen map[*candidate]bool) bool {
	if seen[from] {
		return false
	}
	seen[from] = true
	for _, e := range g.out[from] {
		if e.to == to || e.to != nil && g.reaches(e.to, to, seen) {
			return true
		}
	}
	return false
}

func (g *graph) drop(from, to *candidate) {
	keep := func(all []edge) []edge {
		var out []edge
		for _, e := range all {
			if e.from != from || e.to != to {
				out = append(out, e)
			}
		}
		return out
	}
	g.out[from], g.in[to] = keep(g.out[from]), keep(g.in[to])
}

// whose symptoms count: the target is judged by its own first.
type whose int

const (
	anybodys whose = iota
	targets
	others
)

// counts reports whether a symptom is among those that are judged now.
func (g *graph) counts(symptom int) bool {
	return g.judging == anybodys || g.symptoms[symptom].Elsewhere == (g.judging == others)
}

// explains are the symptoms that a candidate reaches, with the share of each that it can
// explain.
func (g *graph) explains(c *candidate) map[int]float64 {
	out := map[int]float64{}
	seen := map[*candidate]bool{}
	var walk func(*candidate)
	walk = func(c *candidate) {
		if seen[c] {
			return
		}
		seen[c] = true
		for _, e := range g.out[c] {
			switch {
			case e.to != nil:
				walk(e.to)
			case g.counts(e.symptom):
				out[e.symptom] = max(out[e.symptom], e.share)
			}
		}
	}
	walk(c)
	return out
}

func leadsTo(s *suspect.Suspect, name string) (suspect.Lead, bool) {
	for _, l := range s.LeadsTo {
		if scene.Meant(l.To, name) {
			return l, true
		}
	}
	return suspect.Lead{}, false
}

func touches(s *scene.Scene, f suspect.Finding, others []recording.Subject) bool {
	for _, a := range append([]recording.Subject{f.Subject}, f.Related...) {
		for _, b := range others {
			if s.Touch(a, b) {
				return true
			}
		}
	}
	return false
}

func starts(active []recording.Interval) []recording.Time {
	var out []recording.Time
	for _, i := range active {
		out = append(out, i.Start)
	}
	return out
}

// byLog reports that a cause or its effect is known by a log alone, in which nothing says
// whom its service serves: no scene can tie them, and a coincidence must.
func byLog(a *candidate, b recording.Subject) bool {
	return recording.StandsIn(a.finding.Subject.PID) || recording.StandsIn(b.PID)
}
