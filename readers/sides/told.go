package sides

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"snag/internal/units"
	"snag/readers/reader"
	"snag/recording"
)

// Measure is the name of what two captures tell together.
const Measure = "sides.requests"

// told says what was measured, how, and what not.
func told(paths [2]string, r Result) reader.Told {
	a, b := filepath.Base(paths[0]), filepath.Base(paths[1])
	if a == b {
		a, b = paths[0], paths[1]
	}
	row := recording.Coverage{Probe: Measure, State: recording.CoverageOK, Since: r.First}
	if r.Connections == 0 {
		row.State = recording.CoverageUnavailable
		row.Why = fmt.Sprintf("%s and %s have no connection in common", a, b)
		row.Cure = "capture both ends of the same connections at the same time: tcpdump -w FILE 'tcp port N' on each"
		return reader.Told{Coverage: []recording.Coverage{row}}
	}
	out := reader.Told{First: r.First, Last: r.Last}
	if doubts := r.doubts(a, b); len(doubts) > 0 {
		row.State, row.Why = recording.CoveragePartial, strings.Join(doubts, "; ")
		row.Lost = r.Torn
	}
	out.Coverage = []recording.Coverage{row}
	fact := func(name, value string) {
		out.Facts = append(out.Facts, recording.Fact{T: r.First, Name: name, Value: value, Source: a + ", " + b})
	}
	fact("sides.connections", r.found(a, b))
	fact("sides.clock", r.Clock.text(a, b))
	return out
}

// doubts are the sentences on what was not measured.
func (r Result) doubts(a, b string) (out []string) {
	add := func(n uint64, text string) {
		if n > 0 {
			out = append(out, units.Count(float64(n))+" "+text)
		}
	}
	add(r.Torn, "requests of which one of the captures lacks packets are left out")
	add(r.Beyond, "connections are left out: more than 16,384 were open at a time")
	add(uint64(r.Unknown), "connections are left out: which capture is on the client's side could not be found out (both may be of the same place)")
	if !r.Clock.Known {
		out = append(out, fmt.Sprintf("the clocks of %s and %s could not be compared: the ways out and back are not distinguished", a, b))
	}
	if r.Clock.Early > grain {
		out = append(out, fmt.Sprintf("the offset that was asked for can't be true: packets would arrive %s before they were sent. Leave it out, and the clocks are compared", duration(r.Clock.Early)))
	}
	if r.Clock.Pieces > 1 {
		out = append(out, fmt.Sprintf("one of the clocks was set or did not run evenly: they were compared in %d pieces", r.Clock.Pieces))
	}
	return out
}

// found says which connections are on both captures.
func (r Result) found(a, b string) string {
	var how []string
	for h, n := range r.How {
		how = append(how, fmt.Sprintf("%d by %s", n, h))
	}
	sort.Strings(how)
	text := fmt.Sprintf("%d are on both %s and %s (%s)", r.Connections, a, b, strings.Join(how, ", "))
	switch {
	case r.Sides[0] > 0 && r.Sides[1] == 0:
		text += fmt.Sprintf("; %s is the client's side", a)
	case r.Sides[1] > 0 && r.Sides[0] == 0:
		text += fmt.Sprintf("; %s is the client's side", b)
	}
	return fmt.Sprintf("%s; %s requests whole on both, %s on one only", text, units.Count(float64(r.Requests)), units.Count(float64(r.Alone)))
}

// text says how the clocks compare.
func (o Offset) text(a, b string) string {
	if !o.Known {
		return "not known"
	}
	word, ahead := "ahead of", o.Ahead
	if ahead < 0 {
		word, ahead = "behind", -ahead
	}
	if o.Asked {
		return fmt.Sprintf("that of %s is %s s %s that of %s, as was given", b, trimmed(ahead), word, a)
	}
	text := fmt.Sprintf("that of %s is %s s %s that of %s, within %s", b, trimmed(ahead), word, a, duration(o.Bound))
	if ppm := 1e6 * o.Drift; o.DriftBound < mostDrift/2 {
		text += fmt.Sprintf("; it gains %.1f µs a second, within %.1f", ppm, 1e6*o.DriftBound)
	}
	if ahead >= 1 {
		text += fmt.Sprintf("; --offset %s=%ss puts its times beside the other's", b, trimmed(-o.Ahead))
	}
	return text
}

func trimmed(seconds float64) string { return fmt.Sprintf("%.6f", seconds) }

func duration(seconds float64) string {
	return time.Duration(seconds * 1e9).Round(100 * time.Nanosecond).String()
}

// unread reports why two captures were not compared.
func unread(paths [2]string, err error) reader.Told {
	return reader.Told{Coverage: []recording.Coverage{{
		Probe: Measure, State: recording.CoverageFailed, Why: fmt.Sprintf("compare %s with %s: %v", paths[0], paths[1], err),
	}}}
}
