package readers

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"snag/internal/units"
	"snag/recording"
)

// finish puts the sources into parts, says in the coverage of each what it measured
// and what was guessed of it, and writes what the recording is of.
// oldest stands for the time of what has none, zone for that of the user's times.
func (in *intake) finish(oldest recording.Time, zone *time.Location) error {
	all, notes := parts(in.sources)
	for _, p := range all {
		for _, s := range p.sources {
			for _, f := range s.told.Facts {
				f.T = moved(f.T, s.offset)
				in.w.Part(s.key).Append(f)
			}
		}
		for _, c := range p.coverage() {
			in.w.Part(p.sources[0].key).Append(c)
		}
	}
	var far error
	err := in.w.Update(func(m *recording.Manifest) {
		m.Notes = notes
		describe(m, all, oldest)
		far = tooFarApart(*m)
		if m.UTCOffset == 0 {
			_, m.UTCOffset = m.Start.Wall().In(zone).Zone()
		}
	})
	return errors.Join(far, err)
}

// tooFarApart refuses files whose times span more than a recording may: a clock was set in between, or
// a packet is stamped wrong.
func tooFarApart(m recording.Manifest) error {
	memory, _ := recording.MaxMemory()
	days := m.End.Sub(m.Start).Hours() / 24
	if days <= recording.MaxDays*float64(max(memory>>30, 1)) {
		return nil
	}
	const day = "2006-01-02"
	return fmt.Errorf("read the files: their times lie %.0f years apart, from %s to %s: a clock was set in between, or a packet is stamped wrong; take the part that you mean by --from and --to",
		days/365.25, m.Start.Wall().Format(day), m.End.Wall().Format(day))
}

func moved(t recording.Time, d time.Duration) recording.Time {
	if t == 0 {
		return 0
	}
	return t.Add(d)
}

// describe fills in the manifest of the whole, and of each part.
func describe(m *recording.Manifest, all []part, oldest recording.Time) {
	whole := recording.Interval{}
	for _, p := range all {
		if p.window.Start != 0 && (whole.Start == 0 || p.window.Start < whole.Start) {
			whole.Start = p.window.Start
		}
		whole.End = max(whole.End, p.window.End)
	}
	if whole.Start == 0 {
		whole = recording.Interval{Start: oldest, End: oldest}
	}
	m.Start, m.End = atLeast(whole)
	m.Anchor = recording.Anchor{Wall: int64(m.Start)}
	m.Parts = nil
	var hosts []string
	for _, p := range all {
		own := p.manifest(*m)
		if own.Host != "" && !slices.Contains(hosts, own.Host) {
			hosts = append(hosts, own.Host)
		}
		m.Parts = append(m.Parts, recording.Part{Keys: p.keys(), Manifest: own})
		m.Files = append(m.Files, own.Files...)
	}
	if len(all) == 1 { // it is all there is
		own := m.Parts[0]
		symptoms, snag := m.Symptoms, m.Snag
		notes, files := m.Notes, m.Files
		*m = own.Manifest
		m.Symptoms, m.Snag, m.Notes, m.Files = append(symptoms, own.Manifest.Symptoms...), snag, notes, files
		m.Parts = nil
		return
	}
	for _, p := range m.Parts {
		m.Symptoms = append(m.Symptoms, p.Manifest.Symptoms...)
	}
	m.Host = strings.Join(hosts[:min(len(hosts), 8)], ", ")
}

// shortest is the least length of a window: of one moment shares of time have no
// meaning, and no division may be by nothing.
const shortest = time.Second

func atLeast(w recording.Interval) (start, end recording.Time) {
	return w.Start, max(w.End, w.Start.Add(shortest))
}

func (p part) keys() (out []int) {
	for _, s := range p.sources {
		out = append(out, s.key)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// manifest is that of a part: of the recording of a live host where there is one
// among its sources, with what files tell where it says nothing.
func (p part) manifest(whole recording.Manifest) recording.Manifest {
	m := recording.Manifest{Snag: whole.Snag}
	for _, s := range p.sources {
		if s.live != nil {
			m = *s.live
			m.Written, m.Parts, m.Files, m.Notes = nil, nil, nil, nil
			break
		}
	}
	m.Host, m.Version = p.host, recording.Version
	for _, s := range p.sources {
		t := s.told.Machine
		m.Kernel, m.Arch = or(m.Kernel, t.Kernel), or(m.Arch, t.Arch)
		m.CPUs, m.PageSize = max(m.CPUs, t.CPUs), max(m.PageSize, t.PageSize)
		if f := s.file(); !slices.ContainsFunc(m.Files, func(have recording.File) bool { return have.Name == f.Name && have.Host == f.Host }) {
			m.Files = append(m.Files, f)
		}
	}
	for _, s := range p.sources {
		if s.clock != nil {
			m.Clock = s.clock
		}
	}
	m.Start, m.End = atLeast(p.window)
	if p.window.Start == 0 {
		m.Start, m.End = whole.Start, whole.End
	}
	if m.Anchor.Monotonic == 0 {
		m.Anchor = recording.Anchor{Wall: int64(m.Start)}
	}
	return m
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// coverage are the rows of a part: those of all its sources, of each measure one,
// and one of each source that says where its times and its host are from.
func (p part) coverage() (out []recording.Coverage) {
	at := map[string]int{}
	for _, s := range p.sources {
		for _, c := range s.told.Coverage {
			c = p.timed(s, c)
			if s.err != nil && c.State == recording.CoverageOK {
				c.State, c.Why = recording.CoveragePartial, s.err.Error()
			}
			i, ok := at[c.Probe]
			if !ok {
				at[c.Probe] = len(out)
				out = append(out, c)
				continue
			}
			out[i] = both(out[i], c)
		}
	}
	out = append(out, p.counters()...)
	for _, s := range p.sources {
		doubts := s.doubts
		if text := p.short(s); text != "" {
			doubts = append(doubts[:len(doubts):len(doubts)], text)
		}
		c := p.timed(s, recording.Coverage{Probe: s.format + " " + s.name, State: recording.CoverageOK, Since: s.span.Start, Why: strings.Join(doubts, "; ")})
		if !s.zone.sure && s.zone.why != "" {
			c.State, c.Cure = recording.CoveragePartial, "--tz ZONE, or --tz FILE=ZONE"
		}
		if s.err != nil {
			c.State, c.Why = recording.CoveragePartial, strings.Join(append([]string{s.err.Error()}, doubts...), "; ")
		}
		out = append(out, c)
	}
	return out
}

// timed says from when to when a source measured, where that is not all of the part's time.
func (p part) timed(s *source, c recording.Coverage) recording.Coverage {
	if c.State != recording.CoverageOK && c.State != recording.CoveragePartial || s.span.Start == 0 || s.instant() {
		return c
	}
	if c.Since == 0 {
		c.Since = s.span.Start
	}
	if end := max(s.span.End, s.span.Start.Add(shortest)); end < p.window.End {
		c.Until = end
	}
	return c
}

// short says of a source that is of less than half of the part's time how much that is.
func (p part) short(s *source) string {
	own, all := s.span.End.Sub(s.span.Start), p.window.End.Sub(p.window.Start)
	if s.span.Start == 0 || s.instant() || all < near || 2*own >= all {
		return ""
	}
	return fmt.Sprintf("it is of %s of the %s that all files are of: what it alone measures is judged over these", units.Seconds(max(own, shortest)), units.Seconds(all))
}

// both is what two sources tell of one measure: it was measured where either did.
func both(a, b recording.Coverage) recording.Coverage {
	measured := func(c recording.Coverage) bool {
		return c.State == recording.CoverageOK || c.State == recording.CoveragePartial
	}
	switch {
	case !measured(b):
		return a
	case !measured(a):
		return b
	}
	if a.State == recording.CoverageOK {
		a.State = b.State
	}
	if a.Since == 0 || b.Since != 0 && b.Since < a.Since {
		a.Since = b.Since
	}
	if a.Until == 0 || b.Until == 0 { // one of them lasts to the end
		a.Until = 0
	} else {
		a.Until = max(a.Until, b.Until)
	}
	a.Lost, a.Cost, a.Late = a.Lost+b.Lost, a.Cost+b.Cost, max(a.Late, b.Late)
	a.Why, a.Cure = joined(a.Why, b.Why), joined(a.Cure, b.Cure)
	return a
}

// mostWhy bounds the sentences of one row.
const mostWhy = 600

func joined(a, b string) string {
	switch {
	case a == "" || strings.Contains(b, a):
		return b
	case b == "" || strings.Contains(a, b) || len(a) > mostWhy:
		return a
	}
	return a + "; " + b
}

// counters are the measures that count from boot on: measured where a part has them at
// two moments at least.
func (p part) counters() (out []recording.Coverage) {
	at := map[string][]recording.Time{}
	var names []string
	for _, s := range p.sources {
		for measure, times := range s.told.Moments {
			if at[measure] == nil {
				names = append(names, measure)
			}
			for _, t := range times {
				at[measure] = append(at[measure], t.Add(s.offset))
			}
		}
	}
	slices.Sort(names)
	for _, measure := range names {
		times := at[measure]
		slices.Sort(times)
		c := recording.Coverage{Probe: measure, State: recording.CoverageOK, Since: times[0]}
		if times = slices.Compact(times); len(times) < 2 {
			c.State, c.Why = recording.CoverageUnavailable, "it was read at one moment only: totals since boot show no growth"
			c.Cure = "take it again some time later, and give both"
		} else if n := len(times); n < 10 {
			c.State = recording.CoveragePartial
			c.Why = fmt.Sprintf("read %d times within %s: what happened in between, and when, is not known", n, times[n-1].Sub(times[0]).Round(time.Second))
		}
		out = append(out, c)
	}
	return out
}
