package recording

import "testing"

func TestQdiscOption(t *testing.T) {
	q := &Qdisc{Options: map[string]string{"rate": "8000000bit", "burst": "10240b", "limit": "1000p", "target": "5ms", "class 1:10": "rate 8bit ceil 9bit", "ecn": ""}}
	for name, want := range map[string]struct {
		n    float64
		unit string
		ok   bool
	}{
		"rate": {8e6, "bit", true}, "burst": {10240, "b", true}, "limit": {1000, "p", true}, "target": {5, "ms", true},
		"class 1:10": {}, "ecn": {}, "flow_limit": {},
	} {
		if n, unit, ok := q.Option(name); n != want.n || unit != want.unit || ok != want.ok {
			t.Errorf("%s: %v %q %v, want %+v", name, n, unit, ok, want)
		}
	}
	if _, _, ok := (*Qdisc)(nil).Option("rate"); ok {
		t.Error("what was not read has no rate")
	}
}
