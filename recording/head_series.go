package recording

import (
	"fmt"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/record"
)

// samplesPerChunk is Prometheus' (tsdb/head.go, DefaultSamplesPerChunk).
const samplesPerChunk = 120

// headSeries is a series of a headStore.
type headSeries struct {
	labels labels.Labels
	any    bool  // whether there is a last one
	last   int64 // ms of the last sample taken

	full []fullChunk
	now  fullChunk // the one that grows; its chunk is nil before the first sample
	app  chunkenc.Appender
}

// fullChunk is a chunk in memory, or in a mapped file: then it is nil here.
type fullChunk struct {
	from, to int64 // ms of its first and its last sample
	chunk    chunkenc.Chunk
	at       chunks.ChunkDiskMapperRef
}

func (h *headSeries) empty() bool { return len(h.full) == 0 && h.now.chunk == nil }

// append takes a sample, and maps the chunk before it once that is full.
func (h *headSeries) append(s record.RefSample, to *chunks.ChunkDiskMapper) (err error) {
	if h.now.chunk != nil && h.now.chunk.NumSamples() >= samplesPerChunk {
		h.full = append(h.full, h.now.mapTo(to, s.Ref))
		h.now = fullChunk{}
	}
	if h.now.chunk == nil {
		c := chunkenc.NewXORChunk()
		if h.app, err = c.Appender(); err != nil {
			return err
		}
		h.now = fullChunk{from: s.T, chunk: c}
	}
	h.now.to = s.T
	h.app.Append(0, s.T, s.V)
	return nil
}

// mapTo returns the chunk in a mapped file. It stays in memory if it cannot be written there.
func (c fullChunk) mapTo(to *chunks.ChunkDiskMapper, of chunks.HeadSeriesRef) fullChunk {
	var failed error
	at := to.WriteChunk(of, c.from, c.to, c.chunk, false, func(err error) { failed = err })
	if failed != nil {
		c.chunk.Compact()
		return c
	}
	return fullChunk{from: c.from, to: c.to, at: at}
}

// metas are all chunks of the series, in memory.
func (h *headSeries) metas(mapped *chunks.ChunkDiskMapper) ([]chunks.Meta, error) {
	out := make([]chunks.Meta, 0, len(h.full)+1)
	for _, c := range h.full {
		if c.chunk == nil {
			chunk, err := mapped.Chunk(c.at)
			if err != nil {
				return nil, fmt.Errorf("a chunk of %s: %w", h.labels, err)
			}
			c.chunk = chunk
		}
		out = append(out, chunks.Meta{Chunk: c.chunk, MinTime: c.from, MaxTime: c.to})
	}
	if h.now.chunk != nil {
		out = append(out, chunks.Meta{Chunk: h.now.chunk, MinTime: h.now.from, MaxTime: h.now.to})
	}
	return out, nil
}
