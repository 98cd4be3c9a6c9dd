package recording

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryMeasureIsLostWithItsTable(t *testing.T) {
	var all []string
	for table, measures := range feeds {
		if table != "samples" && !slices.Contains(TableNames(), table) {
			t.Errorf("%s is not a table", table)
		}
		all = append(all, measures...)
	}
	for _, m := range Measures {
		if !slices.Contains(all, m) {
			t.Errorf("%s is in no table", m)
		}
	}
}

// A measure whose table is gone was not measured, whatever its coverage says.
func TestALostTableIsNotMeasured(t *testing.T) {
	m := ended()
	m.Written = &Written{Rows: map[string]int{"sockets": 3}}
	f := memory(t, m)
	f[tablesDir+"/coverage.jsonl"] = []byte(`{"probe":"sockets.diag","state":"ok","late_seconds":0.25}
{"probe":"host","state":"ok"}
{"probe":"drops","state":"unavailable","why":"no BTF"}
`)
	delete(f, tablesDir+"/sockets.jsonl")
	delete(f, packedSamples)
	r, err := read(f, "x", "", current)
	if err != nil {
		t.Fatal(err)
	}
	for measure, want := range map[string]string{
		"sockets.diag": CoverageFailed, "host.netstat": CoverageFailed, "host.qdisc": CoverageFailed,
		"host.processes": CoverageOK, "drops.kfree_skb": CoverageUnavailable,
	} {
		c, _ := r.Measured(measure)
		if c.State != want || c.State == CoverageFailed && (!strings.Contains(c.Why, "missing") || c.Cure == "") {
			t.Errorf("%s: %+v, want %s", measure, c, want)
		}
	}
	if c, _ := r.Measured("sockets.diag"); c.Late != 0.25 {
		t.Errorf("what it cost and how late it ran is known: %+v", c)
	}
}

// What ended the recording is said again by whoever judges it later.
func TestBrokenIsDamage(t *testing.T) {
	m := ended()
	m.Broken = "the recording in /x ends here: no space left on device"
	r, err := read(memory(t, m), "x", "", current)
	if err != nil {
		t.Fatal(err)
	}
	wantDamage(t, r, m.Broken)
}
