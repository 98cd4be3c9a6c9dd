package readers

import (
	"fmt"
	"time"

	"snag/readers/reader"
	"snag/recording"
)

// source is one file, several that are read as one, or a recording, and what it
// gave.
type source struct {
	key    int
	name   string // of its first file, as it was given
	format string
	host   string // "" where nothing names it
	asked  bool   // its host was asked for
	parted bool   // its events are of several hosts
	told   reader.Told
	err    error
	// span is that of its lines, moved by offset; Start is 0 where it has no times.
	span   recording.Interval
	offset time.Duration
	moved  string               // why it was moved by offset, or what is known of its clock; "" for nothing to say
	clock  *recording.HostClock // nil: nothing ties it with others
	zone   guess
	live   *recording.Manifest // of a recording; nil for a file
	doubts []string
	// counters are those of a snapshot, as they were read first and last.
	counters map[string][2]float64
}

// instant reports whether all of it is of one moment: a snapshot.
func (s *source) instant() bool { return s.live == nil && s.told.Snapshot }

// intake gives each source its sink, and the hosts that a file names their own.
type intake struct {
	w       *recording.Writer
	sources []*source
	// marked: there are several sources, whose rows must be told apart.
	marked bool
	part   window // of the times that is asked for
}

// add begins a source.
func (in *intake) add(s *source) *source {
	s.key = len(in.sources) + 1
	if !in.marked {
		s.key = 0
	}
	in.sources = append(in.sources, s)
	return s
}

// sink is where a source's rows go.
func (in *intake) sink(s *source) *sourceSink {
	return &sourceSink{in: in, of: s, to: in.w.Part(s.key), hosts: map[string]*sourceSink{}}
}

// sourceSink moves times by the source's offset, and puts events of another host
// apart.
type sourceSink struct {
	in    *intake
	of    *source
	to    recording.Sink
	hosts map[string]*sourceSink
}

// mostHosts of one file are told apart; those of further ones stay with the file.
const mostHosts = 256

func (k *sourceSink) Sample(t recording.Time, name string, l recording.Labels, v float64) {
	at := t.Add(k.of.offset)
	if !k.in.part.has(at, at) {
		return
	}
	k.to.Sample(at, name, l, v)
	if s := k.of; s.counters != nil && reader.Counts(name) {
		key := recording.Series{Name: name, Labels: l}.Key()
		first, ok := s.counters[key]
		if !ok && len(s.counters) >= mostCounters {
			return
		}
		if !ok {
			first[0] = v
		}
		s.counters[key] = [2]float64{first[0], v}
	}
}

// mostCounters of a snapshot are remembered.
const mostCounters = 20_000

// fell reports whether most counters of two snapshots that differ are lower in the
// later one.
func fell(earlier, later *source) bool {
	lower, higher := 0, 0
	for key, v := range later.counters {
		switch before, ok := earlier.counters[key]; {
		case !ok:
		case v[0] < before[1]:
			lower++
		case v[0] > before[1]:
			higher++
		}
	}
	return lower > higher
}

func (k *sourceSink) Append(row recording.Row) {
	if row = shifted(row, k.of.offset); !k.in.part.hasRow(row) {
		return
	}
	e, ok := row.(recording.Event)
	if ok && k.of.asked && k.of.live != nil { // all of a recording is of the host that was named: it can't speak for others
		e.Subject.Host = ""
		row = e
	}
	if !ok || e.Subject.Host == "" || e.Subject.Host == k.of.host {
		k.to.Append(row)
		return
	}
	other := k.hosts[e.Subject.Host]
	if other == nil {
		if len(k.hosts) >= mostHosts {
			k.to.Append(row)
			return
		}
		s := &source{name: k.of.name, format: k.of.format, host: e.Subject.Host, zone: k.of.zone}
		s.key = len(k.in.sources) + 1
		k.in.sources = append(k.in.sources, s)
		other = &sourceSink{in: k.in, of: s, to: k.in.w.Part(s.key)}
		k.hosts[e.Subject.Host] = other
	}
	other.of.see(e.T, e.End)
	other.to.Append(row)
}

// see widens the source's span.
func (s *source) see(from, to recording.Time) {
	if s.span.Start == 0 || from < s.span.Start {
		s.span.Start = from
	}
	s.span.End = max(s.span.End, from, to)
}

// ended takes what the file told of itself. The hosts that it names were measured as
// the file was.
func (k *sourceSink) ended(told reader.Told, err error) {
	s := k.of
	s.told, s.err = told, err
	if told.First != 0 {
		s.span = recording.Interval{Start: told.First.Add(s.offset), End: max(told.Last, told.First).Add(s.offset)}
	}
	if s.host == "" {
		s.host = told.Host
	}
	for i := range s.told.Coverage {
		if s.told.Coverage[i].Since != 0 {
			s.told.Coverage[i].Since = s.told.Coverage[i].Since.Add(s.offset)
		}
	}
	s.parted = s.host == "" && len(k.hosts) > 0
	for _, other := range k.hosts {
		o := other.of
		o.told.Coverage, o.err = s.told.Coverage, err
		if s.span.Start != 0 { // that a host is silent tells as well
			o.span = s.span
		}
	}
	if s.zone.why != "" {
		s.doubts = append(s.doubts, s.zone.why)
	}
	switch {
	case s.offset != 0 && s.clock == nil:
		s.doubts = append(s.doubts, fmt.Sprintf("its times were moved by %+.3f s, %s", s.offset.Seconds(), s.moved))
	case s.moved != "" && (s.offset != 0 || s.clock != nil || s.moved != asWasAsked):
		s.doubts = append(s.doubts, s.moved)
	}
}

// file is what the manifest says of it.
func (s *source) file() recording.File {
	f := recording.File{Name: s.name, Format: s.format, Host: s.host, First: s.span.Start, Last: s.span.End, Offset: s.offset.Seconds(), Doubts: s.doubts}
	if s.zone.why != "" && s.zone.zone != nil {
		_, east := s.span.Start.Wall().In(s.zone.zone).Zone()
		f.Zone = zoneName(time.Duration(east) * time.Second)
	}
	return f
}

// first is the first time of all.
func (in *intake) first() (t recording.Time) {
	for _, s := range in.sources {
		if s.span.Start != 0 && (t == 0 || s.span.Start < t) {
			t = s.span.Start
		}
	}
	return t
}
