package report

import (
	"testing"

	"snag/recording"
)

func TestHowTheHostsClocksCompare(t *testing.T) {
	on := func(host string, c *recording.HostClock, moved float64) *recording.Recording {
		return &recording.Recording{Manifest: recording.Manifest{Host: host, Clock: c, Files: []recording.File{{Offset: moved}}}}
	}
	a := on("a", &recording.HostClock{Of: "a"}, 0)
	for want, parts := range map[string][]*recording.Recording{
		"": {a},
		"compared with a's: b within 660 ms, c within 1.1 s, moved by -300 s":         {a, on("b", &recording.HostClock{Of: "a", Bound: 0.66}, 0), on("c", &recording.HostClock{Of: "a", Bound: 1.1}, -300)},
		"compared with a's: b within 20 ms; nothing shows how c's compare":            {a, on("b", &recording.HostClock{Of: "a", Bound: 0.02}, 0), on("c", nil, 0)},
		"nothing shows how those of c, d compare: taken as they are":                  {on("c", nil, 0), on("d", nil, 0)},
		"nothing shows how those of c, d, e, f and 1 more compare: taken as they are": {on("c", nil, 0), on("d", nil, 0), on("e", nil, 0), on("f", nil, 0), on("g", nil, 0)},
		"compared with a's: b\\x1b within 20 ms":                                      {a, on("b\x1b", &recording.HostClock{Of: "a", Bound: 0.02}, 0)},
	} {
		if got := clocksText(&recording.Recording{Parts: parts}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
