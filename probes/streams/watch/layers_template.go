package watch

import (
	"fmt"
	"path"
	"strings"
)

// Layers are the places of each stream of a list or of a server's own list, as
// templates of URLs in the order in which a stream passes them. nil: there are none.
type Layers []layer

type layer struct{ name, template string }

// LayersOfEach reports whether --layers is meant for each stream of a list.
func LayersOfEach(spec string) bool { return strings.Contains(spec, "{") }

// ParseLayerTemplates reads --layers with {names} in its URLs.
func ParseLayerTemplates(spec string) (Layers, error) {
	l, err := parseLayers(spec)
	if err != nil {
		return nil, err
	}
	for _, layer := range l {
		if err := checkTemplate(layer.name, layer.template); err != nil {
			return nil, err
		}
		if !placeholder.MatchString(layer.template) {
			return nil, fmt.Errorf("%s=%s has no {stream}: all streams would have one URL there", layer.name, Clean(hideUser(layer.template), 120))
		}
	}
	return l, nil
}

// of makes the entries of one stream's places: what was asked of the stream is asked
// at each.
func (l Layers) of(e Entry, v vars) ([]Entry, error) {
	for key, value := range e.Labels {
		v["label."+key] = value
	}
	of := &places{id: e.key()}
	var out []Entry
	for _, layer := range l {
		raw, err := fill(layer.template, v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", layer.name, err)
		}
		at, err := NewEntry(raw, e.From)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", layer.name, err)
		}
		at.Name, at.Threshold, at.Labels, at.Layer, at.places = e.Name, e.Threshold, e.Labels, layer.name, of
		out = append(out, at)
		of.names = append(of.names, layer.name)
	}
	return out, nil
}

// Of makes the places of each stream of a list. Of its URL are known the server, what
// the path has before its last slash (app) and behind it (stream).
func (l Layers) Of(entries []Entry) ([]Entry, []Problem) {
	if l == nil {
		return entries, nil
	}
	var out []Entry
	var t problems
	for _, e := range entries {
		dir, name := path.Split(strings.Trim(e.URL.Path, "/"))
		v := vars{"host": e.URL.Hostname(), "port": e.URL.Port(), "app": strings.Trim(dir, "/"), "stream": name}
		of, err := l.of(e, v)
		if err != nil {
			t.add(Problem{File: e.From, Why: fmt.Sprintf("%q can't be watched at its layers: %v", Clean(e.Name, 60), err)})
			continue
		}
		out = append(out, of...)
	}
	return out, t.all("--layers", "more can't be watched at their layers")
}

// problems keeps the first few of many, and counts the others.
type problems struct {
	told []Problem
	left int
}

func (p *problems) add(one Problem) {
	if len(p.told) >= maxProblems {
		p.left++
		return
	}
	p.told = append(p.told, one)
}

func (p *problems) all(file, more string) []Problem {
	if p.left == 0 {
		return p.told
	}
	return append(p.told, Problem{File: file, Why: fmt.Sprintf("%d %s", p.left, more)})
}
