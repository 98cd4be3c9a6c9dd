package watch

import (
	"fmt"
	"strings"
)

// maxLayers is how many places one stream is watched at.
const maxLayers = 8

// places are where one stream is watched, in the order in which it passes them. The
// entries of one stream share them.
type places struct {
	id    string // of the stream: no other has it
	names []string
}

// ParseLayers reads what --layers takes: name=URL, the places of one stream in the
// order in which it passes them, with commas between. The stream is called as at
// the first.
func ParseLayers(spec, from string) ([]Entry, error) {
	l, err := parseLayers(spec)
	if err != nil {
		return nil, err
	}
	var out []Entry
	of := &places{}
	for _, layer := range l {
		e, err := NewEntry(layer.template, from)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", layer.name, err)
		}
		if e.Layer, e.places = layer.name, of; len(out) > 0 {
			e.Name = out[0].Name
		}
		out = append(out, e)
		of.names = append(of.names, layer.name)
	}
	of.id = out[0].key()
	return out, nil
}

// parseLayers reads the layers' names, and what is written for each.
func parseLayers(spec string) (Layers, error) {
	var out Layers
	seen := map[string]bool{}
	for _, part := range splitLayers(spec) {
		name, raw, ok := strings.Cut(part, "=")
		if !ok || !plain(name) {
			return nil, fmt.Errorf("%q: write ingest=URL,origin=URL,edge=URL; a layer's name is letters, digits, - and _", Clean(hideUser(part), 80))
		}
		if seen[name] {
			return nil, fmt.Errorf("the layer %s is given twice", name)
		}
		seen[name] = true
		out = append(out, layer{name, raw})
	}
	switch {
	case len(out) < 2:
		return nil, fmt.Errorf("it takes two layers at least to find which of them hurts a stream: ingest=URL,edge=URL")
	case len(out) > maxLayers:
		return nil, fmt.Errorf("%d layers are more than %d", len(out), maxLayers)
	}
	return out, nil
}

// splitLayers parts at commas after which a layer's name follows: a URL may hold
// a comma itself.
func splitLayers(spec string) []string {
	var out []string
	for _, part := range strings.Split(spec, ",") {
		name, _, ok := strings.Cut(part, "=")
		if len(out) > 0 && (!ok || !plain(name)) {
			out[len(out)-1] += "," + part
			continue
		}
		out = append(out, part)
	}
	return out
}

// plain reports whether a layer's name is fit for a label.
func plain(name string) bool {
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
		default:
			return false
		}
	}
	return name != "" && len(name) <= 32
}
