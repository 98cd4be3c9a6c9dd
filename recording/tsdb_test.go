package recording

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What Prometheus' own engine (tsdb 0.315, which snag linked until then) wrote stays readable: a block with several
// chunks, and the log of a writer that was killed.
func TestReadsWhatTheEngineWrote(t *testing.T) {
	for _, kind := range []string{"sealed", "killed"} {
		r := mustOpen(t, filepath.Join("testdata", "tsdb-0.315", kind))
		if kind == "sealed" {
			wantDamage(t, r)
		}
		checkSamples(t, r)
	}
}

// The same samples, written now, are the same once read.
func TestWritesWhatTheEngineWrote(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := Create(dir, manifest(), Options{every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	eachSample(func(i int, at Time, name string, l Labels, v float64) {
		w.Sample(at, name, l, v)
		if i%40 == 0 {
			if err := w.flush(true); err != nil {
				t.Fatal(err)
			}
		}
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := mustOpen(t, dir)
	wantDamage(t, r)
	checkSamples(t, r)
	// The engine ends chunks at times of its own; they take as much.
	was, is := onlyFile(t, "testdata/tsdb-0.315/sealed", "chunks/000001"), onlyFile(t, dir, "chunks/000001")
	if math.Abs(float64(len(is)-len(was))) > 0.05*float64(len(was)) {
		t.Errorf("the chunks have %d bytes, the engine's %d", len(is), len(was))
	}
	if onlyFile(t, "testdata/tsdb-0.315/sealed", "tombstones") != onlyFile(t, dir, "tombstones") {
		t.Error("the tombstones are other ones")
	}
}

// onlyFile is a file of the only block of a recording.
func onlyFile(t *testing.T, dir, name string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, samplesDir, "0*", name))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s in %s: %q, %v", name, dir, found, err)
	}
	b, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// eachSample hands over the samples of testdata/tsdb-0.315: five minutes of four series, and three odd values.
func eachSample(take func(i int, at Time, name string, l Labels, v float64)) {
	for i := range 300 {
		at := start.Add(time.Duration(i) * time.Second)
		take(i, at, "node_load1", nil, 0.1*float64(i))
		for c := range 3 {
			take(i, at, "node_softnet_processed_total", Labels{"cpu": fmt.Sprint(c), "queue": "ü\"\n"}, float64(1000*i+c))
		}
		if i%100 == 50 {
			take(i, at, "node_odd", Labels{"x": "y"}, []float64{math.Inf(1), 0, math.NaN()}[i/100])
		}
	}
}

// checkSamples compares a recording with them.
func checkSamples(t *testing.T, r *Recording) {
	t.Helper()
	want := newSeriesSet()
	eachSample(func(_ int, at Time, name string, l Labels, v float64) {
		if err := want.add(want.series(name, l), Point{fromMillis(millis(at)), v}); err != nil {
			t.Fatal(err)
		}
	})
	all := want.list(func(s string) string { return s })
	if len(r.Series) != len(all) {
		t.Fatalf("%s: %d series, want %d", r.Manifest.Host, len(r.Series), len(all))
	}
	for i, s := range r.Series {
		if s.Key() != all[i].Key() || fmt.Sprint(s.Points) != fmt.Sprint(all[i].Points) {
			t.Errorf("%s:\n%v\nwant %s:\n%v", s.Key(), s.Points, all[i].Key(), all[i].Points)
		}
	}
}
