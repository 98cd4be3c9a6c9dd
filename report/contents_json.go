package report

import (
	"reflect"

	"snag/recording"
)

// Contents is what is in a recording, as snag show --json writes it (docs/json.md).
type Contents struct {
	Host    string            `json:"host"`
	Kernel  string            `json:"kernel"`
	Arch    string            `json:"arch"`
	CPUs    int               `json:"cpus"`
	Snag    string            `json:"snag"`   // that recorded
	Layout  int               `json:"layout"` // of the recording (docs/recording.md)
	Window  Window            `json:"window"`
	Target  *recording.Target `json:"target,omitempty"`
	Since   *string           `json:"since"`    // as reported by the user
	Symptom []string          `json:"symptoms"` // as reported by the user
	Notes   []string          `json:"notes"`
	Damage  []string          `json:"damage"`
	Files   []File            `json:"files"`
	// Coverage has a row a measure, Tables and Events how many rows and events of each there are.
	Coverage []Coverage     `json:"coverage"`
	Tables   map[string]int `json:"tables"`
	Events   map[string]int `json:"events"`
	Series   int            `json:"series"`
	Samples  int            `json:"samples"`
}

// NewContents says what is in a recording.
func NewContents(r *recording.Recording) Contents {
	m := r.Manifest
	c := Contents{
		Host: m.Host, Kernel: m.Kernel, Arch: m.Arch, CPUs: m.CPUs, Snag: m.Snag, Layout: m.Version,
		Window: Window{stamp(m.Start), stamp(m.End), r.Length().Seconds()}, Since: optional(m.Since), Symptom: append([]string{}, m.Symptoms...),
		Notes: append([]string{}, m.Notes...), Damage: append([]string{}, r.Damage...), Files: append([]File{}, files(m)...),
		Coverage: coverage(r), Tables: map[string]int{}, Events: map[string]int{}, Series: len(r.Series),
	}
	if m.Target.Name() != "" {
		c.Target = &m.Target
	}
	for _, name := range recording.TableNames() {
		n := 0
		r.EachRow(name, func(recording.Row) bool { n++; return true })
		if n > 0 && name != "coverage" {
			c.Tables[name] = n
		}
	}
	for _, e := range r.Events {
		c.Events[e.Kind]++
	}
	for _, s := range r.Series {
		c.Samples += len(s.Points)
	}
	finite(reflect.ValueOf(&c).Elem())
	return c
}

func coverage(r *recording.Recording) []Coverage {
	out := []Coverage{}
	for _, c := range r.Coverage {
		out = append(out, Coverage{c.Probe, c.State, optional(c.Since), c.Lost, c.Late, c.Cost, c.Why, c.Cure})
	}
	return out
}
