package profile

import (
	"cmp"

	"snag/internal/sorting"
)

// Document is one profile as JSON, bounded: docs/json.md has every field. Amounts are in Unit.
type Document struct {
	Host    string   `json:"host"`
	Kind    string   `json:"kind"` // OnCPU or OffCPU
	Event   *string  `json:"event"`
	Unit    string   `json:"unit"`
	Start   string   `json:"start"`
	Seconds float64  `json:"seconds"`
	CPUs    *int     `json:"cpus"`
	Hz      *float64 `json:"hz"`
	Samples uint64   `json:"samples"`
	Total   float64  `json:"total"`
	// Shares of Total, null without samples.
	Named    *float64 `json:"frames_named"`
	Nameless *float64 `json:"innermost_nameless"`
	Cut      *float64 `json:"cut"`
	NoStack  *float64 `json:"no_stack"`

	Processes     []Process       `json:"processes"`
	ProcessesLeft int             `json:"processes_left"`
	Doubts        []DocumentDoubt `json:"doubts"`
}

// Process is what one process took of a profile, with the functions that took most.
type Process struct {
	Name          string         `json:"name"`
	PID           *int           `json:"pid"`
	Samples       uint64         `json:"samples"`
	Total         float64        `json:"total"`
	Functions     []FunctionTime `json:"functions"`
	FunctionsLeft int            `json:"functions_left"`
}

// FunctionTime is one function of a process.
type FunctionTime struct {
	Function string  `json:"function"`
	Object   *string `json:"object"`
	Self     float64 `json:"self"`
	Total    float64 `json:"total"`
	Thread   string  `json:"thread"`
	WaitsFor *string `json:"waits_for"`
}

// DocumentDoubt is why a profile is less than whole.
type DocumentDoubt struct {
	Probe string  `json:"probe"`
	Why   string  `json:"why"`
	Cure  *string `json:"cure"`
}

// mostProcesses have functions of their own in a document: those that took most.
const mostProcesses = 20

// Document turns a profile of a host into a document with at most so many functions of each process.
func (p *Profile) Document(host string, most int) Document {
	whole := p.Top(0)
	d := Document{
		Host: host, Kind: p.Kind, Event: nonzero(p.Event), Unit: p.Unit, Start: p.Start.Wall().Format(timeForm), Seconds: p.Seconds,
		CPUs: nonzero(p.CPUs), Hz: nonzero(p.Hz), Samples: p.samples(), Total: whole.Total, Processes: []Process{}, Doubts: []DocumentDoubt{},
	}
	if whole.Total > 0 {
		d.Named, d.Nameless, d.Cut, d.NoStack = &whole.Frames, &whole.Nameless, &whole.Cut, &whole.NoStack
	}
	for _, doubt := range p.Doubts {
		d.Doubts = append(d.Doubts, DocumentDoubt{doubt.Probe, doubt.Why, nonzero(doubt.Cure)})
	}
	all := p.byProcess()
	d.ProcessesLeft = max(0, len(all)-mostProcesses)
	for _, of := range all[:min(len(all), mostProcesses)] {
		d.Processes = append(d.Processes, of.process(most))
	}
	return d
}

const timeForm = "2006-01-02T15:04:05.999999999Z07:00"

// byProcess are the parts of a profile, that of the process that took most first.
func (p *Profile) byProcess() []*Profile {
	index := map[string]*Profile{}
	var out []*Profile
	for _, s := range p.Samples {
		one := index[s.owner()]
		if one == nil {
			part := *p
			part.Samples = nil
			one = &part
			index[s.owner()] = one
			out = append(out, one)
		}
		one.Samples = append(one.Samples, s)
	}
	sorting.StableBy(out, func(a, b *Profile) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), cmp.Compare(a.Samples[0].owner(), b.Samples[0].owner()))
	})
	return out
}

// process is a profile of one process alone.
func (p *Profile) process(most int) Process {
	t := p.Top(most)
	first := &p.Samples[0]
	out := Process{Name: first.Process, PID: nonzero(first.PID), Samples: p.samples(), Total: t.Total, Functions: []FunctionTime{}, FunctionsLeft: t.Left}
	for _, l := range t.Lines {
		out.Functions = append(out.Functions, FunctionTime{l.Function, nonzero(l.Object), l.Self, l.Total, l.Thread, nonzero(l.Reason)})
	}
	return out
}

// nonzero is nil for what is not known or does not apply.
func nonzero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
