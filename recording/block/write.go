// Package block writes and reads a block of Prometheus' TSDB (prometheus/tsdb/docs/format): a directory named by a
// ULID that has the chunks of samples, their index, the tombstones and meta.json.
//
// The files' formats are Prometheus' own packages. Its tsdb package, which joins them, links its configuration, and
// with it the clients of AWS, Azure, Google Cloud and Kubernetes.
package block

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/index"
	"github.com/prometheus/prometheus/tsdb/tombstones"

	"snag/internal/private"
)

const (
	chunksDir = "chunks"
	indexFile = "index"
	// Prometheus removes what has such a name: a block that was never finished (tsdb/db.go).
	unfinished = ".tmp-for-creation"
	// The writer of chunks reserves a whole segment, 512 MB by default: more than a small disk has left.
	chunkSegment = 16 << 20
)

// Write makes a block in dir and returns its name. series are sorted by labels.Compare, each once; chunksOf returns
// the chunks of the i-th, by time, at least one. The block is on the disk when Write returns, or there is none.
func Write(dir string, series []labels.Labels, chunksOf func(i int) ([]chunks.Meta, error)) (name string, err error) {
	id := ulid.Make()
	tmp := filepath.Join(dir, id.String()+unfinished)
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := os.Mkdir(tmp, private.FolderMode()); err != nil {
		return "", err
	}
	m := newMeta(id)
	if err := writeSamples(tmp, series, chunksOf, &m); err != nil {
		return "", err
	}
	if err := m.write(tmp); err != nil {
		return "", err
	}
	none := tombstones.NewMemTombstones()
	if _, err := tombstones.WriteFile(slog.New(slog.DiscardHandler), tmp, none); err != nil {
		return "", fmt.Errorf("write the tombstones: %w", err)
	}
	if err := syncDir(tmp); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, filepath.Join(dir, id.String())); err != nil {
		return "", err
	}
	return id.String(), syncDir(dir)
}

// writeSamples writes chunks and index, and counts them in m.
func writeSamples(dir string, series []labels.Labels, chunksOf func(i int) ([]chunks.Meta, error), m *meta) (err error) {
	cw, err := chunks.NewWriter(filepath.Join(dir, chunksDir), chunks.WithSegmentSize(chunkSegment))
	if err != nil {
		return fmt.Errorf("begin the chunks: %w", err)
	}
	defer func() { err = errors.Join(err, cw.Close()) }()
	iw, err := index.NewWriter(context.Background(), filepath.Join(dir, indexFile))
	if err != nil {
		return fmt.Errorf("begin the index: %w", err)
	}
	defer func() { err = errors.Join(err, iw.Close()) }()
	for _, s := range symbols(series) {
		if err := iw.AddSymbol(s); err != nil {
			return fmt.Errorf("write the index: %w", err)
		}
	}
	for i, l := range series {
		all, err := chunksOf(i)
		if err != nil {
			return err
		}
		if err := cw.WriteChunks(all...); err != nil { // sets their references
			return fmt.Errorf("write the chunks of %s: %w", l, err)
		}
		if err := iw.AddSeries(storage.SeriesRef(i), l, all...); err != nil {
			return fmt.Errorf("write the index: %w", err)
		}
		m.count(all)
	}
	return nil
}

// symbols are the texts of all labels, sorted, each once, and the empty one, which is the name of all postings.
func symbols(series []labels.Labels) []string {
	seen := map[string]struct{}{"": {}}
	for _, l := range series {
		l.Range(func(l labels.Label) {
			seen[l.Name], seen[l.Value] = struct{}{}, struct{}{}
		})
	}
	out := make([]string, 0, len(seen))
	for s := range seen {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
