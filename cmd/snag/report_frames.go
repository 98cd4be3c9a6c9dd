package main

import (
	"fmt"
	"os"
	"syscall"

	"snag/internal/cli"
	"snag/recording"
	"snag/report/page/streams"
)

// openFrames opens a file of snag watch --frames; nil where none is named.
func openFrames(path string) (*os.File, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO must not hold the report up
	if err != nil {
		return nil, cli.Usage("--frames: %v", err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, cli.Usage("--frames: %s is not a file of snag watch --frames", path)
	}
	return f, nil
}

// readFrames reads the frames of the recording's streams; none of the file's may be of it.
func readFrames(f *os.File, r *recording.Recording) (*streams.Frames, error) {
	if f == nil {
		return nil, nil
	}
	names := map[string]bool{}
	for _, row := range r.Streams {
		names[row.Name] = true
	}
	frames, err := streams.ReadFrames(f, f.Name(), r.Window(), names)
	if err != nil {
		return nil, err
	}
	if frames.Empty() {
		return nil, fmt.Errorf("--frames: %s has no frame of this recording's streams within its time: name the file that was written beside it", f.Name())
	}
	return frames, nil
}
