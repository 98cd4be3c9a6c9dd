package profile

import (
	"io"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
)

// WritePprof writes the profile for pprof (gzipped protocol buffers, proto/
// profile.proto). Process and thread are labels (-tagfocus, -tagroot=process).
func (p *Profile) WritePprof(w io.Writer) error { return p.pprof().Write(w) }

func (p *Profile) pprof() *profile.Profile {
	out := &profile.Profile{TimeNanos: int64(p.Start), DurationNanos: int64(1e9 * p.Seconds)}
	for _, d := range p.Doubts {
		out.Comments = append(out.Comments, d.text())
	}
	switch {
	case p.Kind == OffCPU:
		out.SampleType = []*profile.ValueType{{Type: "waits", Unit: "count"}, {Type: "off-cpu", Unit: "nanoseconds"}}
	case p.Event != "":
		out.SampleType = []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: p.Event, Unit: "count"}}
	default:
		out.SampleType = []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}
		out.PeriodType = &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
		out.Period = int64(1e9 / max(p.Hz, 1))
	}
	out.DefaultSampleType = out.SampleType[1].Type
	m := pprofMaker{p: p, out: out, locations: map[Frame]*profile.Location{}, mappings: map[string]*profile.Mapping{}}
	for i := range p.Samples {
		s := &p.Samples[i]
		one := &profile.Sample{
			Value:    []int64{int64(s.N), p.whole(s.Value)},
			Label:    map[string][]string{"process": {s.owner()}, "thread": {s.Thread}},
			NumLabel: map[string][]int64{"pid": {int64(s.PID)}, "tid": {int64(s.TID)}},
		}
		if s.Reason != "" {
			one.Label["reason"] = []string{s.Reason}
		}
		for _, f := range s.Frames {
			one.Location = append(one.Location, m.location(f))
		}
		if s.Cut != "" {
			one.Location = append(one.Location, m.location(Frame{Function: "[cut: " + s.Cut + "]"}))
		}
		if len(s.Frames) == 0 {
			one.Location = append(one.Location, m.location(Frame{Function: "[no stack]"}))
		}
		out.Sample = append(out.Sample, one)
	}
	return out
}

// whole is a value as pprof has them: of time, nanoseconds.
func (p *Profile) whole(v float64) int64 {
	if p.Unit == Seconds {
		v *= 1e9
	}
	return int64(min(v, 1<<62))
}

type pprofMaker struct {
	p         *Profile
	out       *profile.Profile
	locations map[Frame]*profile.Location
	mappings  map[string]*profile.Mapping
}

func (m *pprofMaker) location(f Frame) *profile.Location {
	if l := m.locations[f]; l != nil {
		return l
	}
	fn := &profile.Function{ID: uint64(len(m.out.Function) + 1), Name: f.Function, SystemName: f.Function, Filename: f.Object}
	m.out.Function = append(m.out.Function, fn)
	l := &profile.Location{ID: uint64(len(m.out.Location) + 1), Mapping: m.mapping(f), Line: []profile.Line{{Function: fn}}}
	if _, offset, ok := strings.Cut(f.Function, "+0x"); ok { // what has no name keeps its address
		l.Address, _ = strconv.ParseUint(offset, 16, 64)
	}
	m.out.Location = append(m.out.Location, l)
	m.locations[f] = l
	return l
}

func (m *pprofMaker) mapping(f Frame) *profile.Mapping {
	file := f.Object
	if f.Kernel {
		file = "[kernel.kallsyms]"
	}
	if file == "" {
		return nil
	}
	if one := m.mappings[file]; one != nil {
		return one
	}
	// It has its functions: pprof need not look for the file, which may be another
	// here.
	one := &profile.Mapping{ID: uint64(len(m.out.Mapping) + 1), File: file, BuildID: m.p.BuildIDs[file], HasFunctions: true}
	m.out.Mapping = append(m.out.Mapping, one)
	m.mappings[file] = one
	return one
}
