package readers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"snag/recording"
)

// mostFiles of one folder are looked at: a sosreport has some thousands.
const mostFiles = 20_000

// given is what was asked to be read.
type given struct {
	files, recordings []string
	folder            map[string]string // of a file that was found in one
	open              map[string]*recording.Recording
	closed            []string // sentences on folders in a folder that may not be read
}

// parts counts the recordings; one of several hosts counts as several.
func (g given) parts() (n int) {
	for _, r := range g.open {
		n += max(1, len(r.Parts))
	}
	return n
}

// expand parts what was asked for into files and recordings; of a folder that is no
// recording, all files in it are meant. Links are not followed: what they lead to
// may lie anywhere, and in a sosreport it is there under its own name.
func expand(asked []string) (given, error) {
	g := given{folder: map[string]string{}, open: map[string]*recording.Recording{}}
	for _, path := range asked {
		st, err := os.Stat(path)
		switch {
		case isRecording(path):
			r, err := recording.Open(path)
			if err != nil {
				return g, err
			}
			if g.open[path] == nil {
				g.recordings = append(g.recordings, path)
			}
			g.open[path] = r
			continue
		case err != nil || !st.IsDir():
			g.files = append(g.files, path) // to open it says what is wrong with it
			continue
		}
		found, closed, err := filesIn(filepath.Clean(path))
		if err != nil {
			return g, err
		}
		g.closed = append(g.closed, closed...)
		root := rootsIn(filepath.Clean(path), found)
		for _, f := range found {
			g.folder[f] = root(f)
		}
		g.files = append(g.files, found...)
	}
	return g, nil
}

// filesIn are all files below a folder, and what keeps it from looking into others.
func filesIn(path string) (found, closed []string, err error) {
	err = filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && p == path:
			return fmt.Errorf("read %s: %w", path, err)
		case err != nil:
			closed = append(closed, fmt.Sprintf("read %s: %v: what is in it is not judged", p, bare(err)))
			return nil
		case !e.Type().IsRegular():
			return nil
		case len(found) >= mostFiles:
			return fmt.Errorf("read %s: it holds over %d files: give a folder below it", path, mostFiles)
		}
		found = append(found, p)
		return nil
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("read %s: there are no files in it", path)
	}
	return found, closed, err
}

// bare is an error without the call and the path that it names.
func bare(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// parted are folders that one host's files are parted into.
var parted = map[string]bool{"proc": true, "sys": true, "etc": true, "var": true, "run": true, "sos_commands": true, "sos_logs": true, "sos_reports": true, "sos_strings": true}

// rootsIn tells of each file found in a folder of which root it is: the folder whose
// files are of one look at one host. That is a sosreport's, else each folder below the
// one that was given if that holds nothing but folders.
func rootsIn(path string, found []string) func(file string) string {
	sos := map[string]bool{}
	parts := true
	for _, f := range found {
		if i := strings.Index(f, "/sos_commands/"); i >= 0 {
			sos[f[:i]] = true
		}
		first, below := firstBelow(path, f)
		parts = parts && below && !parted[first]
	}
	return func(file string) string {
		for dir := filepath.Dir(file); len(dir) >= len(path); dir = filepath.Dir(dir) {
			if sos[dir] {
				return dir
			}
			if dir == path {
				break
			}
		}
		if !parts {
			return path
		}
		first, _ := firstBelow(path, file)
		return filepath.Join(path, first)
	}
}

// firstBelow is the first folder on the way from path to a file in it.
func firstBelow(path, file string) (first string, below bool) {
	rel := strings.TrimPrefix(strings.TrimPrefix(file, path), "/")
	first, _, below = strings.Cut(rel, "/")
	return first, below
}

// guessZones tells in which zone each file's times without one are, and gives the times
// that each begins and ends with, as far as they were looked at.
func guessZones(ctx context.Context, files []file, given given, p Plan, asked settings) []written {
	local := time.Local
	if p.Zone != nil {
		local = p.Zone
	}
	times := make([]written, len(files))
	var known []recording.Interval
	for path, r := range given.open {
		offset := asked.offsetOf(path)
		known = append(known, recording.Interval{Start: r.Manifest.Start.Add(offset), End: r.Manifest.End.Add(offset)})
	}
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
	}
	// What is sure of some tells of the others.
	for i, f := range files {
		if times[i].zoneless && f.zone.sure {
			known = append(known, times[i].in(f.zone.zone, asked.offsetOf(f.in.Path)))
		}
	}
	for i := range files {
		f := &files[i]
		if times[i].zoneless && !f.zone.sure {
			f.zone = zoneOf(times[i], known, local)
		}
		if !times[i].zoneless {
			f.zone.why = ""
		}
		f.opt.Zone = f.zone.zone
		if times[i].zoneless {
			in := times[i].in(f.zone.zone, 0)
			times[i].first, times[i].last = in.Start, in.End
		}
	}
	return times
}

// zoneOfUser is the zone in which the user tells times of day: that which was asked for,
// else that of the files, else this host's.
func zoneOfUser(p Plan, files []file) *time.Location {
	if p.Zone != nil {
		return p.Zone
	}
	for _, f := range files {
		if f.zone.why != "" && f.zone.zone != nil {
			return f.zone.zone
		}
	}
	return time.Local
}

// oldest is when the first of the files was written: the best that is known of
// files without times.
func oldest(files []file) recording.Time {
	t := recording.Time(time.Now().UnixNano())
	for _, f := range files {
		t = min(t, recording.Time(f.in.Modified.UnixNano()))
	}
	return t
}
