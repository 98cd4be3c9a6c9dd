package block

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/index"
	"github.com/prometheus/prometheus/tsdb/tombstones"
)

// chunk has a sample at each of these times, of that value.
func chunk(t *testing.T, times ...int64) chunks.Meta {
	t.Helper()
	c := chunkenc.NewXORChunk()
	app, err := c.Appender()
	if err != nil {
		t.Fatal(err)
	}
	for _, ms := range times {
		app.Append(0, ms, float64(ms))
	}
	return chunks.Meta{Chunk: c, MinTime: times[0], MaxTime: times[len(times)-1]}
}

// read returns "labels: times" of a block.
func read(t *testing.T, dir string) (out []string) {
	t.Helper()
	var times [][]int64
	err := Read(dir, func(l labels.Labels) (func(int64, float64) error, error) {
		i := len(out)
		out, times = append(out, l.String()), append(times, nil)
		return func(ms int64, v float64) error {
			if v != float64(ms) {
				t.Errorf("%v at %d", v, ms)
			}
			times[i] = append(times[i], ms)
			return nil
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range out {
		out[i] = strings.Clone(out[i]) + fmt.Sprint(times[i])
	}
	return out
}

var two = []labels.Labels{labels.FromStrings("__name__", "a", "x", "1"), labels.FromStrings("__name__", "b")}

func write(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	name, err := Write(dir, two, func(i int) ([]chunks.Meta, error) {
		return [][]chunks.Meta{{chunk(t, -5, 1, 2), chunk(t, 3, 9)}, {chunk(t, 4)}}[i], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

func TestWriteAndRead(t *testing.T) {
	dir := write(t)
	if got := strings.Join(read(t, dir), " "); got != `{__name__="a", x="1"}[-5 1 2 3 9] {__name__="b"}[4]` {
		t.Errorf("read %s", got)
	}
	meta, err := os.ReadFile(filepath.Join(dir, metaFile))
	if err != nil {
		t.Fatal(err)
	}
	id := filepath.Base(dir)
	want := `{"ulid":"` + id + `","minTime":-5,"maxTime":10,"stats":{"numSamples":6,"numFloatSamples":6,"numSeries":2,"numChunks":3},` +
		`"compaction":{"level":1,"sources":["` + id + `"]},"version":1}`
	if got := strings.NewReplacer("\n", "", "\t", "", ": ", ":").Replace(string(meta)); got != want {
		t.Errorf("meta.json is\n%s\nwant\n%s", got, want)
	}
}

// What a user deleted in a copy with Prometheus is not read.
func TestDeletedSamplesAreNotRead(t *testing.T) {
	dir := write(t)
	r, err := index.NewFileReader(filepath.Join(dir, indexFile), index.DecodePostingsRaw)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all, err := r.Postings(t.Context(), "", "")
	if err != nil || !all.Next() {
		t.Fatal(err)
	}
	deleted := tombstones.NewMemTombstones()
	deleted.AddInterval(all.At(), tombstones.Interval{Mint: 1, Maxt: 3})
	if _, err := tombstones.WriteFile(slog.New(slog.DiscardHandler), dir, deleted); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(read(t, dir), " "); got != `{__name__="a", x="1"}[-5 9] {__name__="b"}[4]` {
		t.Errorf("read %s", got)
	}
}

// snag writes no histograms; one beside other samples does not keep them from being read.
func TestHistogramsAreSkipped(t *testing.T) {
	c := chunkenc.NewHistogramChunk()
	app, err := c.Appender()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := app.AppendHistogram(nil, 0, 1, &histogram.Histogram{Count: 1, ZeroCount: 1}, false); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	name, err := Write(dir, two[:1], func(int) ([]chunks.Meta, error) {
		return []chunks.Meta{{Chunk: c, MinTime: 1, MaxTime: 1}, chunk(t, 2)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(dir, name)); len(got) != 1 || !strings.HasSuffix(got[0], "[2]") {
		t.Errorf("read %s", got)
	}
}

// A block that cannot be written leaves nothing.
func TestAFailedBlockLeavesNothing(t *testing.T) {
	broken := errors.New("input/output error")
	dir := t.TempDir()
	_, err := Write(dir, two, func(i int) ([]chunks.Meta, error) {
		if i == 1 {
			return nil, broken
		}
		return []chunks.Meta{chunk(t, 1)}, nil
	})
	left, _ := os.ReadDir(dir)
	if !errors.Is(err, broken) || len(left) != 0 {
		t.Errorf("%v, and %v is left", err, left)
	}
}

func TestReadEndsWithTheFirstError(t *testing.T) {
	enough := errors.New("enough")
	dir := write(t)
	if err := Read(dir, func(labels.Labels) (func(int64, float64) error, error) { return nil, enough }); !errors.Is(err, enough) {
		t.Errorf("a series: %v", err)
	}
	n := 0
	err := Read(dir, func(labels.Labels) (func(int64, float64) error, error) {
		return func(int64, float64) error { n++; return enough }, nil
	})
	if !errors.Is(err, enough) || n != 1 {
		t.Errorf("a sample: %v after %d", err, n)
	}
	if err := os.WriteFile(filepath.Join(dir, metaFile), []byte(`{"version":2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Read(dir, nil); err == nil || !strings.Contains(err.Error(), "version 2, and snag reads 1") {
		t.Errorf("another version: %v", err)
	}
}
