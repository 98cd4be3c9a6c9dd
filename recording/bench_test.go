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

// Samples of five minutes: 500 series, each once a second.
const benchSeries, benchSeconds = 500, 300

// writeSamples writes them to dir and leaves the recording open, all of it in its log.
func writeSamples(b *testing.B, dir string) *Writer {
	b.Helper()
	w, err := Create(dir, manifest(), Options{every: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	for i := range benchSeconds {
		at := start.Add(time.Duration(i) * time.Second)
		for c := range benchSeries {
			w.Sample(at, "node_qdisc_bytes_total", Labels{"device": "eth0", "handle": names[c%445], "n": names[c/445]}, float64(i*c)*1.5)
		}
		if err := w.flush(true); err != nil {
			b.Fatal(err)
		}
	}
	return w
}

// One recording of 150,000 samples, from its start to its block.
func BenchmarkWriteSamples(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := writeSamples(b, filepath.Join(b.TempDir(), "rec")).Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// The block of 150,000 samples, and the log of as many that was never sealed.
func BenchmarkReadSamples(b *testing.B) {
	for _, kind := range []string{"block", "log"} {
		b.Run(kind, func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "rec")
			w := writeSamples(b, dir)
			defer w.Close()
			if kind == "block" {
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				r, err := Open(dir)
				if err != nil || len(r.Series) != benchSeries || len(r.Series[0].Points) != benchSeconds {
					b.Fatal(err, len(r.Series))
				}
			}
		})
	}
}

var names = func() (out [445]string) {
	for i := range out {
		out[i] = fmt.Sprintf("%x:", i)
	}
	return out
}()
