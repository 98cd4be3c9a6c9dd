package main

import (
	"encoding/json"
	"testing"
)

// A control is wrong with any finding of what is not there; a limit is one where there is none.
func TestControls(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reading, freedBy string
		limited, want    bool
	}{
		{`{"hump": null, "cliff": null, "hysteresis": null, "knee": null}`, "", false, true},
		{`{"hump": {}, "cliff": null, "hysteresis": null, "knee": null}`, "", true, false},
		{`{"hump": null, "cliff": {}, "hysteresis": null, "knee": null}`, "", true, false},
		{`{"hump": null, "cliff": null, "hysteresis": {}, "knee": null}`, "", true, false},
		{`{"hump": null, "cliff": null, "hysteresis": null, "knee": {"Most": 200}}`, "", false, false},
		{`{"hump": null, "cliff": null, "hysteresis": null, "knee": {"Most": 200}}`, "", true, true},
		{`{"freed_by": "TCP_NODELAY"}`, "", true, false},
		{`{"hump": {}, "knee": {"Most": 200}, "freed_by": "TCP_NODELAY"}`, "TCP_NODELAY", false, true},
		{`{"hump": {}, "freed_by": "TCP_QUICKACK"}`, "TCP_NODELAY", false, false},
		{`{"hump": {}, "freed_by": ""}`, "TCP_NODELAY", false, false},
	} {
		var r reading
		if err := json.Unmarshal([]byte(tt.reading), &r); err != nil {
			t.Fatal(err)
		}
		if got := r.right(tt.freedBy, tt.limited); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
