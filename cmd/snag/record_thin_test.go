package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/recorder"
	"snag/recording"
)

// Two old minutes become one piece, by the command that snag record runs for it.
func TestThinPieces(t *testing.T) {
	t.Setenv("GOGC", "100") // else it would set the limit of the memory of all tests
	dir := t.TempDir()
	start := recording.Time(1_700_049_600_000_000_000) // 2023-11-15 12:00 UTC
	minutes := []string{"20231115T120000.000Z-20231115T120100.000Z-1s.snag", "20231115T120100.000Z-20231115T120200.000Z-1s.snag"}
	for i, name := range minutes {
		from := start.Add(time.Duration(i) * time.Minute)
		r := &recording.Recording{Manifest: recording.Manifest{Version: recording.Version, Start: from, End: from.Add(time.Minute), Anchor: recording.Anchor{Wall: int64(start)}}}
		s := recording.Series{Name: "node_load1"}
		for j := range 60 {
			s.Points = append(s.Points, recording.Point{T: from.Add(time.Duration(j) * time.Second), V: float64(j)})
		}
		r.Series = []recording.Series{s}
		if err := r.PackTo(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) error {
		root := rootCommand()
		root.SetArgs(append([]string{thinName}, args...))
		return root.Execute()
	}
	for _, bad := range [][]string{{dir, "soon", minutes[0]}, {dir, "10s", "../" + minutes[0]}, {dir, "10s", "20231115T120200.000Z-open"}} {
		if err := run(bad...); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	if err := run(append([]string{dir, "10s"}, minutes...)...); err != nil {
		t.Fatal(err)
	}
	for _, s := range enders() {
		if signal.Ignored(s) {
			t.Errorf("%v is ignored afterwards, and so by all that this process starts", s)
		}
	}
	all, err := os.ReadDir(dir)
	if err != nil || len(all) != 1 || !strings.HasSuffix(all[0].Name(), "T120200.000Z-10s.snag") {
		t.Fatalf("%v, %v", all, err)
	}
	r, err := recorder.Ring{Dir: dir}.Read(start, start.Add(2*time.Minute))
	if err != nil || len(r.Series) != 1 || len(r.Series[0].Points) != 24 {
		t.Errorf("%+v, %v", r, err)
	}
}
