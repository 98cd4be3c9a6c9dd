package wal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/prometheus/prometheus/tsdb/wlog"
	"github.com/prometheus/prometheus/util/compression"
)

// all reads the segments of a log.
func all(t *testing.T, dir string) (records [][]byte, segments []string) {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range segments {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		err = Read(f, func(rec []byte) error { records = append(records, bytes.Clone(rec)); return nil })
		if err = errors.Join(err, f.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	return records, segments
}

const segment = 4 * pageSize

// manyRecords have all lengths around the ends of pages and segments, compressible and not.
func manyRecords() (out [][]byte) {
	r := rand.NewChaCha8([32]byte{1})
	add := func(n int, random bool) {
		rec := make([]byte, n)
		if random {
			_, _ = r.Read(rec)
		}
		out = append(out, rec)
	}
	for n := pageSize - 3*headSize; n < pageSize+headSize; n++ {
		add(n, true)
		add(1, false)
	}
	for n := range 3 * headSize {
		add(segment-5*headSize-n, true)
	}
	add(0, false)
	add(2*segment, true) // its segment is longer
	add(10*segment, false)
	return out
}

// same compares records.
func same(t *testing.T, got, want [][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("record %d of %d bytes came back with %d bytes", i, len(want[i]), len(got[i]))
		}
	}
}

// They come back as they were, to snag and to Prometheus.
func TestWriteAndRead(t *testing.T) {
	want := manyRecords()
	dir := filepath.Join(t.TempDir(), "wal")
	w, err := Create(dir, segment)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(want); i += 3 {
		if err := w.Log(want[i:min(i+3, len(want))]...); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, segments := all(t, dir)
	same(t, got, want)
	same(t, theirs(t, dir), want)
	long := 0
	for i, name := range segments {
		st, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(name) != fmt.Sprintf("%08d", i) || i < len(segments)-1 && st.Size()%pageSize != 0 {
			t.Errorf("segment %d is %s of %d bytes", i, name, st.Size())
		}
		if st.Size() > segment {
			long++
		}
	}
	if len(segments) < 10 || long != 1 {
		t.Errorf("%d segments, %d longer than a segment, want 1", len(segments), long)
	}
}

// theirs is what Prometheus reads of a log.
func theirs(t *testing.T, dir string) (records [][]byte) {
	t.Helper()
	in, err := wlog.NewSegmentsReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	r := wlog.NewReader(in)
	for r.Next() {
		records = append(records, bytes.Clone(r.Record()))
	}
	if err := r.Err(); err != nil {
		t.Errorf("Prometheus: %v", err)
	}
	return records
}

// What Prometheus wrote is read.
func TestReadsPrometheusLog(t *testing.T) {
	want := manyRecords()
	dir := filepath.Join(t.TempDir(), "wal")
	w, err := wlog.NewSize(nil, nil, dir, segment, compression.Snappy)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Log(want...), w.Close()); err != nil {
		t.Fatal(err)
	}
	got, _ := all(t, dir)
	same(t, got, want)
}

// A write that fails leaves nothing of its records, and what came before and comes after is whole.
func TestAFailedWriteLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "wal")
	w, err := Create(dir, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Log([]byte("first")); err != nil {
		t.Fatal(err)
	}
	f := w.file
	if w.file, err = os.Open(filepath.Join(dir, "00000000")); err != nil { // for reading alone
		t.Fatal(err)
	}
	if err := w.Log([]byte("second")); !errors.Is(err, syscall.EBADF) {
		t.Errorf("a file that cannot be written: %v", err)
	}
	w.file.Close()
	w.file = f
	if err := w.Log([]byte("third")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := all(t, dir); len(got) != 2 || string(got[0]) != "first" || string(got[1]) != "third" {
		t.Errorf("records %q", got)
	}
}
