package recording

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
)

// Rows are lines of JSON. A profile or a trace has a hundred thousand of them, and
// encoding/json takes several times as long for each as reading the file that they are
// made of. So the usual form of a row, which is what this package writes, is read and
// written here, by a list of its columns that is made once; whatever is of another form
// goes to encoding/json, which is also what the tests compare with.

// column is one field of a row, or of a struct in it.
type column struct {
	name string
	head []byte // `"name":`
	omit bool   // it is left out where it is zero
	// at points into the row that is read or written: *int64, **bool, *[]string …, or is
	// *nested. nil is of a type that only encoding/json knows.
	at     any
	inside []column      // of a struct
	odd    reflect.Value // the field, where at and inside are nil
}

// codec holds one row of a table at a time, and its columns.
type codec[T any] struct {
	row     T
	columns []column
	usable  bool
}

func newCodec[T any]() *codec[T] {
	c := &codec[T]{}
	c.columns, c.usable = columnsOf(reflect.ValueOf(&c.row).Elem())
	return c
}

// columnsOf lists the fields of a struct as encoding/json names them; false where it
// would treat the struct in a way of its own.
func columnsOf(v reflect.Value) ([]column, bool) {
	if v.Kind() != reflect.Struct || speaks(v) {
		return nil, false
	}
	var out []column
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || options != "" && options != "omitempty" || strings.ContainsAny(name, `\"<>&`) {
			return nil, false
		}
		if name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		c := column{name: name, head: []byte(`"` + name + `":`), omit: options == "omitempty"}
		if inside, ok := columnsOf(v.Field(i)); ok {
			c.inside = inside
		} else if c.at = pointerTo(v.Field(i)); c.at == nil {
			c.odd = v.Field(i)
		}
		out = append(out, c)
	}
	return out, true
}

// speaks reports whether a type has a form in JSON of its own.
func speaks(v reflect.Value) bool {
	t := v.Addr().Type()
	for _, i := range []reflect.Type{
		reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
		reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
	} {
		if t.Implements(i) {
			return true
		}
	}
	return false
}

// plainTypes are those that are read and written here, and all that are named for them.
var plainTypes = map[reflect.Kind]reflect.Type{
	reflect.Int: reflect.TypeFor[int](), reflect.Int64: reflect.TypeFor[int64](), reflect.Uint64: reflect.TypeFor[uint64](),
	reflect.Float64: reflect.TypeFor[float64](), reflect.String: reflect.TypeFor[string](), reflect.Bool: reflect.TypeFor[bool](),
}

// pointerTo is a pointer to a field that a switch of types can tell.
func pointerTo(v reflect.Value) any {
	if speaks(v) {
		return nil
	}
	if t, ok := plainTypes[v.Kind()]; ok {
		return v.Addr().Convert(reflect.PointerTo(t)).Interface()
	}
	switch at := v.Addr().Interface().(type) {
	case **int, **uint64, **float64, **bool, *[]string, *[]uint64, *map[string]string, *Labels:
		return at
	}
	if n := nestedIn(v); n != nil {
		return n
	}
	return nil
}
