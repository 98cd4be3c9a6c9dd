package report

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

func TestNumbersThatJSONHasNoFormFor(t *testing.T) {
	amount := math.Inf(-1)
	d := struct {
		A []float64
		B *float64
		c float64
	}{[]float64{math.Inf(1), math.NaN(), 2}, &amount, 0}
	finite(reflect.ValueOf(&d).Elem())
	if d.A[0] != math.MaxFloat64 || d.A[1] != 0 || d.A[2] != 2 || *d.B != -math.MaxFloat64 || d.c != 0 {
		t.Errorf("%+v, %g", d, *d.B)
	}
	if _, err := json.Marshal(d); err != nil {
		t.Error(err)
	}
}
