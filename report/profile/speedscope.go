package profile

import (
	"encoding/json"
	"io"
	"sort"
)

// The file format of speedscope (src/lib/file-format-spec.ts), as far as it is
// written here.
type (
	speedscopeFile struct {
		Schema   string             `json:"$schema"`
		Name     string             `json:"name"`
		Exporter string             `json:"exporter"`
		Shared   speedscopeShared   `json:"shared"`
		Profiles []speedscopeSample `json:"profiles"`
	}
	speedscopeShared struct {
		Frames []speedscopeFrame `json:"frames"`
	}
	speedscopeFrame struct {
		Name string `json:"name"`
		File string `json:"file,omitempty"`
	}
	speedscopeSample struct {
		Type       string    `json:"type"`
		Name       string    `json:"name"`
		Unit       string    `json:"unit"`
		StartValue float64   `json:"startValue"`
		EndValue   float64   `json:"endValue"`
		Samples    [][]int   `json:"samples"`
		Weights    []float64 `json:"weights"`
	}
)

// speedscopeUnit is one of those that it knows.
func (p *Profile) speedscopeUnit() string {
	if p.Unit == Seconds {
		return "seconds"
	}
	return "none"
}

// mostOwn processes have a profile of their own, after that of all.
const mostOwn = 20

// WriteSpeedscope writes the profile for https://www.speedscope.app: one of all
// processes, and one of each that took most.
func (p *Profile) WriteSpeedscope(w io.Writer, name string) error {
	f := speedscopeFile{Schema: "https://www.speedscope.app/file-format-schema.json", Name: name, Exporter: "snag"}
	f.Shared.Frames = []speedscopeFrame{}
	index := map[Frame]int{}
	all := &speedscopeSample{Type: "sampled", Name: "all", Unit: p.speedscopeUnit(), Samples: [][]int{}, Weights: []float64{}}
	own := map[string]*speedscopeSample{}
	for i := range p.Samples {
		s := &p.Samples[i]
		var stack []int
		for _, frame := range s.path() {
			at, ok := index[frame]
			if !ok {
				at = len(f.Shared.Frames)
				index[frame] = at
				f.Shared.Frames = append(f.Shared.Frames, speedscopeFrame{Name: frame.Function, File: frame.where()})
			}
			stack = append(stack, at)
		}
		one := own[s.owner()]
		if one == nil {
			one = &speedscopeSample{Type: "sampled", Name: s.owner(), Unit: all.Unit}
			own[s.owner()] = one
		}
		for _, to := range []*speedscopeSample{all, one} {
			to.Samples, to.Weights = append(to.Samples, stack), append(to.Weights, s.Value)
			to.EndValue += s.Value
		}
	}
	f.Profiles = []speedscopeSample{*all}
	var each []*speedscopeSample
	for _, one := range own {
		each = append(each, one)
	}
	sort.Slice(each, func(i, j int) bool {
		return each[i].EndValue > each[j].EndValue || each[i].EndValue == each[j].EndValue && each[i].Name < each[j].Name
	})
	if len(each) > 1 {
		for _, one := range each[:min(len(each), mostOwn)] {
			f.Profiles = append(f.Profiles, *one)
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(f)
}
