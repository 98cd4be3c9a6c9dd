package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"snag/internal/cli"
	"snag/readers"
	"snag/recording"
)

// load opens a recording that was made ready, or makes one of a file that another tool
// wrote: what perf recorded on the good host, say.
func (s *strangers) load(ctx context.Context, path string, zone *time.Location) (*recording.Recording, error) {
	r, err := s.open(path)
	var none *recording.NotRecordingError
	if err == nil || !errors.As(err, &none) {
		return r, err
	}
	if st, stErr := os.Stat(path); stErr != nil || st.IsDir() {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "snag-read-")
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer os.RemoveAll(dir)
	if err := readers.Read(ctx, readers.Plan{Files: []string{path}, Dir: dir, Zone: zone, Snag: cli.Version}); err != nil {
		return nil, err
	}
	return recording.Open(dir)
}
