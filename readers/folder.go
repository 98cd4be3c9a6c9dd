package readers

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"snag/recording"
)

// mostFiles of one folder are looked at: a sosreport has some thousands.
const mostFiles = 20_000

// expand parts what was given into files and recordings; of a folder that is no
// recording, all files in it are meant. Links are not followed: what they lead to
// may lie anywhere, and in a sosreport it is there under its own name.
func expand(given []string) (files, recordings []string, err error) {
	for _, path := range given {
		st, err := os.Stat(path)
		switch {
		case err != nil || !st.IsDir() && !isRecording(path):
			files = append(files, path) // to open it says what is wrong with it
			continue
		case isRecording(path):
			recordings = append(recordings, path)
			continue
		}
		n := 0
		err = filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
			switch {
			case err != nil && p == path:
				return fmt.Errorf("read %s: %w", path, err)
			case err != nil || !e.Type().IsRegular():
				return nil // a folder that may not be read is as one that is not there
			case n >= mostFiles:
				return fmt.Errorf("read %s: it holds over %d files: give a folder below it", path, mostFiles)
			}
			n++
			files = append(files, p)
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		if n == 0 {
			return nil, nil, fmt.Errorf("read %s: there are no files in it", path)
		}
	}
	return files, recordings, nil
}

// guessZones tells in which zone each file's times without one are.
func guessZones(ctx context.Context, files []file, p Plan, asked settings) {
	local := time.Local
	if p.Zone != nil {
		local = p.Zone
	}
	times := make([]written, len(files))
	var known []recording.Interval
	for i, f := range files {
		if times[i] = peek(ctx, f); !times[i].zoneless && times[i].first != 0 {
			offset := asked.offsetOf(f.in.Path)
			known = append(known, recording.Interval{Start: times[i].first.Add(offset), End: times[i].last.Add(offset)})
		}
	}
	for i := range files {
		f := &files[i]
		zone, own := asked.zoneOf(f.in.Path)
		switch {
		case own:
			f.zone = guess{zone: zone, why: "its times have no zone: taken as " + zone.String() + ", as was asked for", sure: true}
		case p.Zone != nil:
			f.zone = guess{zone: p.Zone, why: "its times have no zone: taken as " + p.Zone.String() + ", as was asked for", sure: true}
		default:
			f.zone = zoneOf(times[i], known, local)
		}
		if !times[i].zoneless {
			f.zone.why = ""
		}
		f.opt.Zone = f.zone.zone
	}
}
