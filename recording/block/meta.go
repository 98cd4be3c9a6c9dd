package block

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/oklog/ulid/v2"

	"github.com/prometheus/prometheus/tsdb/chunks"

	"snag/internal/private"
)

const (
	metaFile    = "meta.json"
	metaVersion = 1
)

// meta is meta.json (tsdb/block.go, BlockMeta), of what snag writes. Times are in milliseconds since 1970.
type meta struct {
	ULID    ulid.ULID `json:"ulid"`
	MinTime int64     `json:"minTime"`
	MaxTime int64     `json:"maxTime"` // exclusive
	Stats   struct {
		Samples      uint64 `json:"numSamples,omitempty"`
		FloatSamples uint64 `json:"numFloatSamples,omitempty"`
		Series       uint64 `json:"numSeries,omitempty"`
		Chunks       uint64 `json:"numChunks,omitempty"`
	} `json:"stats"`
	Compaction struct {
		Level   int         `json:"level"`
		Sources []ulid.ULID `json:"sources,omitempty"`
	} `json:"compaction"`
	Version int `json:"version"`
}

func newMeta(id ulid.ULID) meta {
	m := meta{ULID: id, MinTime: math.MaxInt64, MaxTime: math.MinInt64, Version: metaVersion}
	m.Compaction.Level, m.Compaction.Sources = 1, []ulid.ULID{id}
	return m
}

// count adds a series with these chunks.
func (m *meta) count(all []chunks.Meta) {
	m.Stats.Series++
	m.Stats.Chunks += uint64(len(all))
	for _, c := range all {
		n := uint64(c.Chunk.NumSamples())
		m.Stats.Samples += n
		m.Stats.FloatSamples += n
		m.MinTime, m.MaxTime = min(m.MinTime, c.MinTime), max(m.MaxTime, c.MaxTime+1)
	}
}

func (m *meta) write(dir string) error {
	text, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	return private.Write(filepath.Join(dir, metaFile), text)
}

// checkMeta refuses a block that this package does not read.
func checkMeta(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, metaFile))
	if err != nil {
		return err
	}
	var m struct{ Version int }
	if err := json.Unmarshal(text, &m); err != nil {
		return fmt.Errorf("%s: %w", metaFile, err)
	}
	if m.Version != metaVersion {
		return fmt.Errorf("%s: version %d, and snag reads %d", metaFile, m.Version, metaVersion)
	}
	return nil
}
