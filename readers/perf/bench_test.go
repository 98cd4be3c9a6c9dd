package perf

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snag/readers/reader"
	"snag/recording"
)

type nowhere struct{}

func (nowhere) Sample(recording.Time, string, recording.Labels, float64) {}
func (nowhere) Append(recording.Row)                                     {}

// BenchmarkScript reads 32 MB of perf script, or the file that SNAG_BENCH_PERF names.
func BenchmarkScript(b *testing.B) {
	path := os.Getenv("SNAG_BENCH_PERF")
	if path == "" {
		text, err := os.ReadFile("../testdata/perf.txt")
		if err != nil {
			b.Fatal(err)
		}
		path = filepath.Join(b.TempDir(), "perf.txt")
		if err := os.WriteFile(path, []byte(strings.Repeat(string(text), 32<<20/len(text))), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		in, err := reader.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(in.Size)
		l := newLines(newTally(nowhere{}), 0, nil)
		if err := readScript(context.Background(), in, l); err != nil {
			b.Fatal(err)
		}
		l.close()
		l.end()
		_ = in.Close()
	}
}
