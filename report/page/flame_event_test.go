package page

import (
	"slices"
	"testing"

	"snag/recording/rectest"
	"snag/verdict"
)

// What perf recorded beside time has graphs of its own, in its own unit; beside a
// baseline what is no more than chance is told.
const sampledByPerf = `Cycles and page faults of a relay; beside the good host a function is new.
-- manifest --
{"seconds": 10}
-- stacks --
{"id": 1, "frames": ["work", "main"], "objects": ["/opt/relay", "/opt/relay"]}
{"id": 2, "frames": ["spin", "main"], "objects": ["/opt/relay", "/opt/relay"]}
{"id": 3, "frames": ["copy", "main"], "objects": ["/opt/relay", "/opt/relay"]}
-- oncpu --
{"t": "0..9", "pid": 0, "comm": "relay", "stack": 1, "n": 60, "hz": 0, "event": "cycles", "weight": 60000}
{"t": "0..9", "pid": 0, "comm": "relay", "stack": 2, "n": 30, "hz": 0, "event": "cycles", "weight": 30000}
{"t": "0..9", "pid": 0, "comm": "relay", "stack": 3, "n": 1, "hz": 0, "event": "cycles", "weight": 1000}
{"t": 3, "pid": 0, "comm": "relay", "stack": 1, "n": 7, "hz": 0, "event": "page-faults"}
-- baseline/manifest --
{"seconds": 10}
-- baseline/stacks --
{"id": 9, "frames": ["work", "main"], "objects": ["/opt/relay", "/opt/relay"]}
{"id": 8, "frames": ["old", "main"], "objects": ["/opt/relay", "/opt/relay"]}
-- baseline/oncpu --
{"t": "0..9", "pid": 0, "comm": "relay", "stack": 9, "n": 90, "hz": 0, "event": "cycles", "weight": 90000}
{"t": "0..9", "pid": 0, "comm": "relay", "stack": 8, "n": 10, "hz": 0, "event": "cycles", "weight": 10000}
`

func TestEventsHaveGraphsOfTheirOwn(t *testing.T) {
	c, err := rectest.Parse([]byte(sampledByPerf))
	if err != nil {
		t.Fatal(err)
	}
	d := New(verdict.Judge(c.Recording), limits[0])
	if len(d.Flames) != 2 {
		t.Fatalf("%d graphs", len(d.Flames))
	}
	cycles, faults := d.Flames[0], d.Flames[1]
	if cycles.Name != "oncpu" || cycles.Unit != "cycles" || cycles.Total != 910000 || cycles.Title != "By cycles" {
		t.Errorf("%+v", cycles)
	}
	if faults.Name != "oncpu-2" || faults.Unit != "samples" || faults.Total != 7 || faults.Before != nil {
		t.Errorf("%+v", faults)
	}
	if want := "10.0 % of the baseline's is in stacks that are not here"; cycles.Note != want {
		t.Errorf("%q, want %q", cycles.Note, want)
	}
	for i := 1; i < len(cycles.Value); i++ {
		name := cycles.Frames[cycles.Frame[i]]
		chance := slices.Contains(cycles.Chance, i)
		switch name {
		case "work", "spin":
			if chance {
				t.Errorf("%s changed, and is called chance", name)
			}
		case "relay", "main":
			if !chance {
				t.Errorf("%s is all of both, and is called a change", name)
			}
		}
	}
}
