package report

import (
	"math"
	"reflect"
)

// finite makes numbers that JSON has no form for as large as numbers get: they come of rows that
// are not true, whose sums are beyond all bounds. NaN, of which nothing is known, becomes 0.
func finite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Float64:
		switch f := v.Float(); {
		case math.IsNaN(f):
			v.SetFloat(0)
		case math.IsInf(f, 0):
			v.SetFloat(math.Copysign(math.MaxFloat64, f))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			finite(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				finite(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			finite(v.Index(i))
		}
	}
}
