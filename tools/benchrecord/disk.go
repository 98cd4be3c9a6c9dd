package main

import (
	"io/fs"
	"path/filepath"
	"time"
)

// disk reports how many bytes an hour a recorder writes. It is asked at the start and at the
// end of the window, and after the recorder has ended.
type disk interface {
	// rate is bytes an hour; before and after are size() at the window's ends.
	rate(r *running, before, after int64, window time.Duration) float64
	size(dir string) int64
}

// grown is for recorders whose files grow with each sample.
type grown struct{ under []string }

func (g grown) size(dir string) int64 { return sizeOf(dir, g.under) }

func (grown) rate(_ *running, before, after int64, window time.Duration) float64 {
	return float64(after-before) / window.Hours()
}

// atEnd is for those that hold hours in memory: what is there once they have ended, and
// with that have written all, counts from their start on.
type atEnd struct{ under []string }

func (a atEnd) size(string) int64 { return 0 }

func (a atEnd) rate(r *running, _, _ int64, _ time.Duration) float64 {
	return float64(sizeOf(r.dir, a.under)) / time.Since(r.began).Hours()
}

// pieces is for snag's ring: finished pieces, each of that length. The one that is being
// written is not packed yet.
type pieces struct {
	pattern string
	length  time.Duration
}

func (p pieces) size(string) int64 { return 0 }

func (p pieces) rate(*running, int64, int64, time.Duration) float64 {
	found, _ := filepath.Glob(p.pattern)
	if len(found) > 1 {
		found = found[1:] // the first is as long as was left of its minute
	}
	if len(found) == 0 {
		return 0
	}
	return float64(sizeOf("", found)) / float64(len(found)) / p.length.Hours()
}

// sizeOf is the sum of the files below the paths, which are below dir.
func sizeOf(dir string, under []string) (sum int64) {
	for _, u := range under {
		_ = filepath.WalkDir(filepath.Join(dir, u), func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil // what has gone meanwhile has no size
			}
			if info, err := e.Info(); err == nil {
				sum += info.Size()
			}
			return nil
		})
	}
	return sum
}
