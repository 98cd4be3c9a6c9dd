package plan

import (
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"snag/internal/nearest"
	"snag/internal/shown"
)

var (
	planType  = reflect.TypeFor[Plan]()
	valueType = reflect.TypeFor[yaml.Unmarshaler]()
)

// known says which key of a node its type does not have, with the line and the key that was meant. at is the node's
// place, as peers[2].
func known(n *yaml.Node, t reflect.Type, at string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case n.Kind == yaml.AliasNode:
		return fmt.Errorf("line %d: %s is an alias: write its value out", n.Line, or(at, "the plan"))
	case reflect.PointerTo(t).Implements(valueType), n.Tag == "!!null":
		return nil
	case n.Kind != wantedKind(t):
		return fmt.Errorf("line %d: %s is %s, and %s is expected", n.Line, or(at, "the plan"), kindNames[n.Kind], kindNames[wantedKind(t)])
	case t.Kind() == reflect.Slice:
		for i, c := range n.Content {
			if err := known(c, t.Elem(), fmt.Sprintf("%s[%d]", at, i+1)); err != nil {
				return err
			}
		}
	case t.Kind() == reflect.Struct:
		return knownKeys(n, t, at)
	}
	return nil
}

var kindNames = map[yaml.Kind]string{yaml.MappingNode: "a map of keys", yaml.SequenceNode: "a list", yaml.ScalarNode: "one value"}

// wantedKind is how a value of a type is written.
func wantedKind(t reflect.Type) yaml.Kind {
	switch t.Kind() {
	case reflect.Slice:
		return yaml.SequenceNode
	case reflect.Struct, reflect.Map:
		return yaml.MappingNode
	}
	return yaml.ScalarNode
}

func knownKeys(n *yaml.Node, t reflect.Type, at string) error {
	types := map[string]reflect.Type{}
	var names []string
	for i := range t.NumField() {
		name := t.Field(i).Tag.Get("yaml")
		types[name] = t.Field(i).Type
		names = append(names, name)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if types[key.Value] == nil {
			near := nearest.DidYouMean(key.Value, names, func(s string) string { return s })
			if near == "" {
				near = ": there are " + strings.Join(names, ", ")
			}
			return fmt.Errorf("line %d: unknown key %q in %s%s", key.Line, shown.Cut(shown.Text(key.Value), 40), or(at, "the plan"), near)
		}
		place := key.Value
		if at != "" {
			place = at + "." + key.Value
		}
		if err := known(n.Content[i+1], types[key.Value], place); err != nil {
			return err
		}
	}
	return nil
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// line of a place of the plan: keys, and indexes from 0. What is not in the file has the line of what it is missing in.
func line(n *yaml.Node, place ...any) int {
	for _, step := range place {
		var next *yaml.Node
		switch step := step.(type) {
		case int:
			if n.Kind == yaml.SequenceNode && step < len(n.Content) {
				next = n.Content[step]
			}
		case string:
			for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == step {
					next = n.Content[i+1]
				}
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	return n.Line
}
