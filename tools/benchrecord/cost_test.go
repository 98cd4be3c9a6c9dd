package main

import (
	"strings"
	"testing"
	"time"
)

func TestCostTable(t *testing.T) {
	r := costReport{Machine: "2 CPUs", Began: time.Unix(0, 0), Cost: []cost{
		{Name: "snag record, 1 s", Load: "1.5", Disk: 12e6, Parts: []part{{"snag", 0.02, 50e6}}},
		{Name: "atop, 1 s", Load: "0.5", Usual: 600e9, Interval: 1e9, Disk: 6e6, Parts: []part{{"atop", 0.06, 1e6}}},
		{Name: "atop, 1 s", Load: "0.7", Usual: 600e9, Interval: 1e9, Disk: 6e6, Parts: []part{{"atop", 0.08, 1e6}}},
		{Name: "below, 1 s", Missing: "no such file"},
	}}
	got := costTable(&r)
	for _, want := range []string{
		"after each window 0.50 to 1.50.",
		"| atop, 600 s | 0.0117 (0.01–0.0133) | 0.0058 | 1.0 | 0.02 | 0.01 | 0.00083 | computed from the row below |",
		"| atop, 1 s | 7 (6–8) | 3.5 | 1.0 | 0.02 | 6 | 0.5 |  |",
		"| below, 1 s | – | – | – | – | – | – | did not run: no such file |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if none := costTable(&costReport{Cost: r.Cost[3:]}); !strings.Contains(none, "after each window not measured") {
		t.Errorf("got\n%s", none)
	}
}
