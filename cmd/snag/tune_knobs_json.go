package main

import "snag/remedies/knob"

// knobPage is a kind of setting, or a group of sysctls, for snag tune knobs --json (docs/json.md).
type knobPage struct {
	Name     string        `json:"name"`
	About    string        `json:"about"`
	Target   string        `json:"target"` // how a plan names one, YAML
	Then     string        `json:"then"`   // a value, as an example
	Needs    string        `json:"needs"`
	Notes    []string      `json:"notes"`
	Settings []knobSetting `json:"settings"`
}

// knobSetting is one setting of it; "" is what does not apply.
type knobSetting struct {
	Name   string `json:"name"`
	About  string `json:"about"`
	Unit   string `json:"unit"`
	Range  string `json:"range"`
	Since  string `json:"since"`
	Helps  string `json:"helps"`
	Hurts  string `json:"hurts"`
	Source string `json:"source"`
}

func knobPages(pages []knob.Page) []knobPage {
	out := []knobPage{}
	for _, p := range pages {
		one := knobPage{p.Name, p.About, p.Target, p.Then, p.Needs, append([]string{}, p.Notes...), []knobSetting{}}
		for _, d := range p.Settings {
			one.Settings = append(one.Settings, knobSetting(d))
		}
		out = append(out, one)
	}
	return out
}
