package readers

import (
	"reflect"
	"sync"
	"time"

	"snag/recording"
)

var timeType = reflect.TypeFor[recording.Time]()

// holds remembers which types hold a time somewhere.
var holds sync.Map // reflect.Type → bool

// holdsTime reports whether values of a type hold a recording.Time. No row type holds
// itself.
func holdsTime(t reflect.Type) bool {
	if v, ok := holds.Load(t); ok {
		return v.(bool)
	}
	found := t == timeType
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			found = found || t.Field(i).IsExported() && holdsTime(t.Field(i).Type)
		}
	case reflect.Pointer, reflect.Slice, reflect.Array:
		found = found || holdsTime(t.Elem())
	}
	holds.Store(t, found)
	return found
}

// shifted is a row with d added to each of its times; what is not known (0) stays so.
func shifted(row recording.Row, d time.Duration) recording.Row {
	if d == 0 || !holdsTime(reflect.TypeOf(row)) {
		return row
	}
	v := reflect.New(reflect.TypeOf(row)).Elem()
	v.Set(reflect.ValueOf(row))
	shift(v, d)
	return v.Interface().(recording.Row)
}

// shift moves the times in a value that can be set. What it points to is copied
// first: it may be the reader's own.
func shift(v reflect.Value, d time.Duration) {
	if v.Type() == timeType {
		if v.Int() != 0 {
			v.SetInt(v.Int() + int64(d))
		}
		return
	}
	if !holdsTime(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				shift(v.Field(i), d)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			own := reflect.New(v.Type().Elem())
			own.Elem().Set(v.Elem())
			shift(own.Elem(), d)
			v.Set(own)
		}
	case reflect.Slice:
		if !v.IsNil() {
			own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(own, v)
			for i := range own.Len() {
				shift(own.Index(i), d)
			}
			v.Set(own)
		}
	case reflect.Array:
		for i := range v.Len() {
			shift(v.Index(i), d)
		}
	}
}
