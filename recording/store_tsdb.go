package recording

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/prometheus/common/model"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/wlog"
	"github.com/prometheus/prometheus/util/compression"

	"snag/internal/private"
)

const (
	// The log is never fsynced, so a segment's size only bounds what one file
	// holds; the default is 128 MB.
	walSegment = 16 << 20
	// The default stripes (16,384) cost 40 MB before the first series.
	stripes = 512
	// The compactor preallocates a whole chunk segment, 512 MB by default: more
	// than a small disk has left.
	chunkSegment = 16 << 20
)

// headStore keeps samples in a Prometheus TSDB head and its write-ahead log.
type headStore struct {
	dir  string
	head *tsdb.Head
	wal  *wlog.WL
}

// anyTime is the range of a head that takes samples of any time in any order of the
// series: a head refuses what lies half its range before its newest sample
// (tsdb/head_append.go, appendableMinValidTime).
const anyTime = 200 * 365 * 24 * 3600 * 1000 // ms

func openHead(dir string, files bool) (sampleStore, error) {
	wal, err := wlog.NewSize(nil, nil, filepath.Join(dir, "wal"), walSegment, compression.Snappy)
	if err != nil {
		return nil, fmt.Errorf("open the log of samples in %s: %w", dir, err)
	}
	o := tsdb.DefaultHeadOptions()
	o.ChunkDirRoot = dir
	o.ChunkWriteBufferSize = chunks.MinWriteBufferSize
	o.StripeSize = stripes
	o.WALReplayConcurrency = 1
	if files {
		o.ChunkRange = anyTime
	}
	head, err := tsdb.NewHead(nil, nil, wal, nil, o, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the store of samples in %s: %w", dir, err), wal.Close())
	}
	if err := head.Init(math.MinInt64); err != nil {
		return nil, errors.Join(fmt.Errorf("open the store of samples in %s: %w", dir, err), head.Close())
	}
	return &headStore{dir: dir, head: head, wal: wal}, nil
}

func (s *headStore) commit(batch []sample) (refused int, err error) {
	if len(batch) == 0 {
		return 0, nil
	}
	err = guard(func() (err error) {
		refused, err = s.append(batch)
		return err
	})
	return refused, err
}

func (s *headStore) append(batch []sample) (refused int, err error) {
	app := s.head.Appender(context.Background())
	for _, b := range batch {
		if b.of.handle == nil {
			b.of.handle = promLabels(b.of.name, b.of.labels)
		}
		ref, err := app.Append(storage.SeriesRef(b.of.ref), b.of.handle.(labels.Labels), b.ms, b.v)
		switch {
		case err == nil:
			b.of.ref = uint64(ref)
		case errors.Is(err, storage.ErrOutOfOrderSample), errors.Is(err, storage.ErrOutOfBounds),
			errors.Is(err, storage.ErrTooOldSample), errors.Is(err, storage.ErrDuplicateSampleForTimestamp):
			refused++
		default:
			return refused, errors.Join(fmt.Errorf("append samples: %w", err), app.Rollback())
		}
	}
	if err := app.Commit(); err != nil {
		return refused, fmt.Errorf("write samples: %w", err)
	}
	return refused, nil
}

func (s *headStore) seal() error {
	if s.head.NumSeries() > 0 && s.head.MinTime() <= s.head.MaxTime() {
		if err := guard(s.block); err != nil {
			return errors.Join(fmt.Errorf("make the block of samples (they stay in the log): %w", err), s.close())
		}
	}
	// The block is on the disk and says all that the log and the mapped chunks
	// say: closing them can fail (below), and nothing is lost by it.
	_ = s.close()
	for _, d := range []string{"wal", "chunks_head"} {
		if err := os.RemoveAll(filepath.Join(s.dir, d)); err != nil {
			return fmt.Errorf("clear the log of samples: %w", err)
		}
	}
	// promtool 2.42 opens a folder only if it has a wal directory.
	if err := os.Mkdir(filepath.Join(s.dir, "wal"), private.FolderMode()); err != nil {
		return fmt.Errorf("leave an empty log of samples: %w", err)
	}
	return syncDir(s.dir)
}

func (s *headStore) block() error {
	c, err := tsdb.NewLeveledCompactorWithOptions(context.Background(), nil, nil,
		[]int64{tsdb.DefaultBlockDuration}, chunkenc.NewPool(),
		tsdb.LeveledCompactorOptions{MaxBlockChunkSegmentSize: chunkSegment})
	if err != nil {
		return err
	}
	from, to := s.head.MinTime(), s.head.MaxTime()
	// A block's end is exclusive, a head's range inclusive.
	_, err = c.Write(s.dir, tsdb.NewRangeHead(s.head, from, to), from, to+1, nil)
	return err
}

// close ends the head. It maps chunks to the disk first, and panics if that is
// full (tsdb/head_append.go handleChunkWriteError); the log has it all.
func (s *headStore) close() error {
	err := guard(s.head.Close)
	if err != nil {
		_ = guard(s.wal.Close) // not reached by the head; else it is closed already
	}
	return err
}

func promLabels(name string, l Labels) labels.Labels {
	b := labels.NewScratchBuilder(len(l) + 1)
	b.Add(model.MetricNameLabel, name)
	for n, v := range l {
		if v != "" { // the data model knows no empty value; remote write refuses one
			b.Add(n, v)
		}
	}
	b.Sort()
	return b.Labels()
}
