package recording

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/prometheus/common/model"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/record"

	"snag/internal/private"
	"snag/recording/block"
	"snag/recording/wal"
)

const (
	walDir        = "wal"
	chunksHeadDir = "chunks_head"
	// The log is never fsynced, so a segment's size only bounds what one file holds;
	// Prometheus' is 128 MB.
	walSegment = 16 << 20
	// outOfBounds is how much older than the newest sample one may be that is taken, ms: half of the two hours of a
	// block, as Prometheus has it (tsdb/head_append.go, appendableMinValidTime).
	outOfBounds = 3600 * 1000
)

// headStore keeps samples as Prometheus does: in a write-ahead log, and as chunks that become the block. Chunks that
// are full are written to chunks_head and mapped into memory.
type headStore struct {
	dir     string
	anyTime bool // the times are those of files, in any order of the series
	wal     *wal.Writer
	mapped  *chunks.ChunkDiskMapper
	series  []*headSeries // by their reference less 1
	newest  int64         // ms, of all samples
	samples int

	enc     record.Encoder
	created []record.RefSeries
	taken   []record.RefSample
	buf     []byte
}

func openHead(dir string, files bool) (sampleStore, error) {
	log, err := wal.Create(filepath.Join(dir, walDir), walSegment)
	if err != nil {
		return nil, fmt.Errorf("open the log of samples in %s: %w", dir, err)
	}
	mapped, err := chunks.NewChunkDiskMapper(nil, filepath.Join(dir, chunksHeadDir), nil, chunks.MinWriteBufferSize, 0)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the store of samples in %s: %w", dir, err), log.Close())
	}
	return &headStore{dir: dir, anyTime: files, wal: log, mapped: mapped}, nil
}

// commit logs what it takes of a batch, and only then keeps it: what the log could not hold is not in the block.
func (s *headStore) commit(batch []sample) (refused int, err error) {
	if len(batch) == 0 {
		return 0, nil
	}
	least := s.least(batch[0].ms)
	s.created, s.taken = s.created[:0], s.taken[:0]
	for _, b := range batch {
		if b.of.ref == 0 {
			s.create(b.of)
		}
		h := s.series[b.of.ref-1]
		if b.ms < least || h.any && b.ms <= h.last {
			refused++
			continue
		}
		h.last, h.any = b.ms, true
		s.taken = append(s.taken, record.RefSample{Ref: chunks.HeadSeriesRef(b.of.ref), T: b.ms, V: b.v})
	}
	if err := s.log(); err != nil {
		return refused, fmt.Errorf("write samples: %w", err)
	}
	for _, t := range s.taken {
		if err := s.series[t.Ref-1].append(t, s.mapped); err != nil {
			return refused, fmt.Errorf("keep samples: %w", err)
		}
		if s.samples == 0 || t.T > s.newest {
			s.newest = t.T
		}
		s.samples++
	}
	return refused, nil
}

// least is the oldest time that is taken. first is that of the first sample of a batch.
func (s *headStore) least(first int64) int64 {
	newest := s.newest
	if s.samples == 0 {
		newest = first
	}
	if s.anyTime {
		return -1 << 63
	}
	return newest - outOfBounds
}

func (s *headStore) create(of *series) {
	h := &headSeries{labels: promLabels(of.name, of.labels)}
	s.series = append(s.series, h)
	of.ref = uint64(len(s.series))
	s.created = append(s.created, record.RefSeries{Ref: chunks.HeadSeriesRef(of.ref), Labels: h.labels})
}

// log writes the new series and the samples that are taken.
func (s *headStore) log() error {
	s.buf = s.buf[:0]
	var records [][]byte
	if len(s.created) > 0 {
		s.buf = s.enc.Series(s.created, s.buf)
		records = append(records, s.buf)
	}
	if len(s.taken) > 0 {
		n := len(s.buf)
		s.buf = s.enc.Samples(s.taken, s.buf)
		if n > 0 {
			records[0] = s.buf[:n]
		}
		records = append(records, s.buf[n:])
	}
	return s.wal.Log(records...)
}

func (s *headStore) seal() error {
	if s.samples > 0 {
		if err := guard(s.block); err != nil {
			return errors.Join(fmt.Errorf("make the block of samples (they stay in the log): %w", err), s.close())
		}
	}
	// The block is on the disk and has all that the log and the mapped chunks have:
	// nothing is lost if closing them fails.
	_ = s.close()
	for _, d := range []string{walDir, chunksHeadDir} {
		if err := os.RemoveAll(filepath.Join(s.dir, d)); err != nil {
			return fmt.Errorf("clear the log of samples: %w", err)
		}
	}
	// promtool 2.42 opens a folder only if it has a wal directory.
	if err := os.Mkdir(filepath.Join(s.dir, walDir), private.FolderMode()); err != nil {
		return fmt.Errorf("leave an empty log of samples: %w", err)
	}
	return syncDir(s.dir)
}

func (s *headStore) block() error {
	sorted := slices.DeleteFunc(slices.Clone(s.series), func(h *headSeries) bool { return h.empty() })
	slices.SortFunc(sorted, func(a, b *headSeries) int { return labels.Compare(a.labels, b.labels) })
	names := make([]labels.Labels, len(sorted))
	for i, h := range sorted {
		names[i] = h.labels
	}
	_, err := block.Write(s.dir, names, func(i int) ([]chunks.Meta, error) { return sorted[i].metas(s.mapped) })
	return err
}

func (s *headStore) close() error { return errors.Join(s.wal.Close(), guard(s.mapped.Close)) }

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
