package recording

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

func benchWriter(b *testing.B) *Writer {
	b.Helper()
	w, err := Create(filepath.Join(b.TempDir(), "rec"), manifest(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := w.Close(); err != nil {
			b.Error(err)
		}
	})
	return w
}

// One sample of a probe that hands over a fresh map, as all do.
func BenchmarkSample(b *testing.B) {
	w := benchWriter(b)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		at := start.Add(time.Duration(i/445) * 10 * time.Millisecond)
		w.Sample(at, "node_qdisc_bytes_total", Labels{"device": "eth0", "handle": names[i%445], "kind": "fq_codel"}, float64(i))
		i++
	}
}

func BenchmarkAppendSocket(b *testing.B) {
	w := benchWriter(b)
	row := oneOfEach(start, 1)[2]
	b.ReportAllocs()
	for b.Loop() {
		w.Append(row)
	}
}

// Opening the recording of a find of 30 s: 6,000 sockets and 30,000 samples.
func BenchmarkOpen(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "rec")
	w, err := Create(dir, manifest(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	busyHost(w, 30, 200, 1000)
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Open(dir); err != nil {
			b.Fatal(err)
		}
	}
}

var names = func() (out [445]string) {
	for i := range out {
		out[i] = fmt.Sprintf("%x:", i)
	}
	return out
}()
