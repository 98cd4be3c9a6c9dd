package recording

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// A recording whose samples are lines says the same as one with blocks: while it is written, after
// its writer was killed, ended, and packed.
func TestLinesSayWhatBlocksSay(t *testing.T) {
	t.Parallel()
	want := mustOpen(t, written(t, 3, Options{}))
	dir := written(t, 3, Options{Lines: true})
	got := mustOpen(t, dir)
	wantDamage(t, got)
	if !reflect.DeepEqual(got.Series, want.Series) {
		t.Errorf("\n got %v\nwant %v", got.Series, want.Series)
	}
	file := filepath.Join(t.TempDir(), "x.snag")
	if err := PackLines(dir, file); err != nil {
		t.Fatal(err)
	}
	packed := mustOpen(t, file)
	wantDamage(t, packed)
	if !reflect.DeepEqual(packed.Series, want.Series) || !reflect.DeepEqual(packed.Sockets, want.Sockets) || !reflect.DeepEqual(packed.Manifest, got.Manifest) {
		t.Errorf("packed: %v", packed.Series)
	}
}

func TestLinesOfAWriterThatWasKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	flushed := make(chan struct{}, 100)
	w, err := Create(dir, manifest(), Options{Lines: true, every: 10 * time.Millisecond, onFlush: func(map[string]int, int) { flushed <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	w.Sample(start+1e9, "node_load1", nil, 0.5)
	w.Sample(start+1e9, "node_odd", Labels{"a": "x\"y"}, 1e-7)
	<-flushed
	<-flushed
	w.Sample(start+2e9, "node_load1", nil, 0.75)
	<-flushed
	<-flushed
	r := mustOpen(t, dir) // as if it were never closed
	if s := r.Select("node_load1"); len(s) != 1 || !reflect.DeepEqual(s[0].Points, []Point{{start + 1e9, 0.5}, {start + 2e9, 0.75}}) {
		t.Errorf("%v", s)
	}
	if s := r.Select("node_odd", "a", "x\"y"); len(s) != 1 || s[0].Points[0].V != 1e-7 {
		t.Errorf("%v", s)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
