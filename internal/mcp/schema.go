package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// SchemaOf is the JSON Schema of a struct as encoding/json writes it. A field's tag doc describes it; a field without
// omitempty or omitzero is required.
func SchemaOf[T any]() json.RawMessage {
	text, err := json.Marshal(schemaOf(reflect.TypeFor[T]()))
	if err != nil {
		panic(err) // it is made of maps and strings
	}
	return text
}

func schemaOf(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		s := schemaOf(t.Elem())
		s["type"] = []any{s["type"], "null"}
		return s
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Uint32, reflect.Uint16:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Struct:
		return objectOf(t)
	}
	panic(fmt.Sprintf("a schema of %v: the kind is not supported", t)) // a programmer's mistake: tests make all schemas
}

func objectOf(t reflect.Type) map[string]any {
	if t.PkgPath() == "time" && t.Name() == "Time" {
		return map[string]any{"type": "string", "format": "date-time"}
	}
	properties, required := map[string]any{}, []string{}
	for f := range fields(t) {
		s := schemaOf(f.Type)
		if doc := f.Tag.Get("doc"); doc != "" {
			s["description"] = doc
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		properties[name] = s
		if !strings.HasPrefix(options, "omit") {
			required = append(required, name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// fields are those that are written, embedded structs' among them.
func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			switch {
			case f.Anonymous && f.Tag.Get("json") == "":
				for g := range fields(f.Type) {
					if !yield(g) {
						return
					}
				}
			case f.IsExported() && f.Tag.Get("json") != "-":
				if !yield(f) {
					return
				}
			}
		}
	}
}

// Arguments reads a tool's arguments into a struct. Unlike encoding/json it accepts no name that the struct has not,
// and says which there are.
func Arguments[T any](raw json.RawMessage) (in T, err error) {
	err = arguments(raw, &in, reflect.TypeFor[T]())
	return in, err
}

// arguments has no type parameter, so that it is compiled once and not for each tool.
func arguments(raw json.RawMessage, in any, t reflect.Type) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var names []string
	for f := range fields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return fmt.Errorf("the arguments must be a JSON object with %s", strings.Join(names, ", "))
	}
	for name := range given {
		if !slices.Contains(names, name) {
			return fmt.Errorf("unknown argument %q: there are %s", name, strings.Join(names, ", "))
		}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(in); err != nil {
		return fmt.Errorf("the arguments: %s", plain(err))
	}
	if _, err := d.Token(); err != io.EOF { //nolint:errorlint // Token returns it as it is
		return fmt.Errorf("the arguments: more than one JSON object")
	}
	return nil
}

// plain says of a value of the wrong type what encoding/json says of Go's types.
func plain(err error) string {
	if wrong, ok := err.(*json.UnmarshalTypeError); ok { //nolint:errorlint // Decode returns it as it is
		kind := wrong.Type.Kind()
		want := map[reflect.Kind]string{reflect.Slice: "a list of strings", reflect.Bool: "true or false", reflect.String: "a string"}[kind]
		if want == "" {
			want = "a whole number in range"
		}
		return fmt.Sprintf("%s is a %s, and must be %s", wrong.Field, wrong.Value, want)
	}
	return err.Error()
}
