package block

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/index"
	"github.com/prometheus/prometheus/tsdb/tombstones"
)

// Read reads the samples of a block, which it leaves as it is. series gets the labels of each series, which are valid
// until Read returns, and returns what takes its samples: times in milliseconds, in order, without those that were
// deleted. An error that either returns ends the reading. Histograms are skipped.
func Read(dir string, series func(labels.Labels) (func(ms int64, v float64) error, error)) (err error) {
	r := &reader{}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.open(dir); err != nil {
		return err
	}
	all, err := r.index.Postings(context.Background(), "", "") // index.AllPostingsKey
	if err != nil {
		return err
	}
	for all.Next() {
		if err := r.series(all.At(), series); err != nil {
			return err
		}
	}
	return all.Err()
}

// reader has the files of a block open.
type reader struct {
	index   *index.Reader
	chunks  *chunks.Reader
	deleted tombstones.Reader

	builder labels.ScratchBuilder
	metas   []chunks.Meta
	it      chunkenc.Iterator
}

func (r *reader) open(dir string) (err error) {
	if err := checkMeta(dir); err != nil {
		return err
	}
	if r.index, err = index.NewFileReader(filepath.Join(dir, indexFile), index.DecodePostingsRaw); err != nil {
		return fmt.Errorf("the index: %w", err)
	}
	if r.chunks, err = chunks.NewDirReader(filepath.Join(dir, chunksDir), nil); err != nil {
		return fmt.Errorf("the chunks: %w", err)
	}
	if r.deleted, _, err = tombstones.ReadTombstones(dir); err != nil {
		return fmt.Errorf("the tombstones: %w", err)
	}
	return nil
}

func (r *reader) close() (err error) {
	if r.index != nil {
		err = r.index.Close()
	}
	if r.chunks != nil {
		err = errors.Join(err, r.chunks.Close())
	}
	return err
}

// series reads the series of a reference.
func (r *reader) series(ref storage.SeriesRef, to func(labels.Labels) (func(ms int64, v float64) error, error)) error {
	r.metas = r.metas[:0]
	if err := r.index.Series(ref, &r.builder, &r.metas); err != nil {
		return err
	}
	deleted, err := r.deleted.Get(ref)
	if err != nil {
		return err
	}
	take, err := to(r.builder.Labels())
	if err != nil {
		return err
	}
	for _, m := range r.metas {
		if err := r.chunk(m, deleted, take); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) chunk(m chunks.Meta, deleted tombstones.Intervals, take func(ms int64, v float64) error) error {
	c, _, err := r.chunks.ChunkOrIterable(m)
	if err != nil {
		return err
	}
	r.it = c.Iterator(r.it)
	for kind := r.it.Next(); kind != chunkenc.ValNone; kind = r.it.Next() {
		if kind != chunkenc.ValFloat {
			continue
		}
		ms, v := r.it.At()
		if within(ms, deleted) {
			continue
		}
		if err := take(ms, v); err != nil {
			return err
		}
	}
	return r.it.Err()
}

func within(ms int64, deleted tombstones.Intervals) bool {
	for _, d := range deleted {
		if d.InBounds(ms) {
			return true
		}
	}
	return false
}
