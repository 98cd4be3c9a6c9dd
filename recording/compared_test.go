package recording

import (
	"strings"
	"testing"
)

// A recording to compare with is a need that only the user can meet.
func TestComparedIsMeasuredByABaseline(t *testing.T) {
	r := &Recording{}
	if c, ok := r.Measured(Compared); ok || !strings.Contains(c.Cure, "--baseline") {
		t.Errorf("without one: %v %+v", ok, c)
	}
	r.Baseline = &Recording{}
	if _, ok := r.Measured(Compared); !ok {
		t.Error("with one it is not measured")
	}
}
