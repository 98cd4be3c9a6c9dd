package files

import (
	"path"
	"strings"

	"snag/probes/streams/hls"
)

// media are the endings of files that segments are written to.
var media = []string{".ts", ".m4s", ".mp4", ".m4v", ".m4a", ".m2ts", ".aac", ".cmfv", ".cmfa", ".vtt"}

// segmentLike reports whether a name may be a segment's, also while it is under a
// temporary name (ffmpeg's temp_file: seg7.ts.tmp).
func segmentLike(name string) bool {
	name = strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(name, ".tmp"), ".part"))
	for _, end := range media {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// shape is a file's name with every number in it as one #, so that a segment that is
// not listed yet is known by those that are.
func shape(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".tmp"), ".part")
	end := path.Ext(name)
	name = strings.TrimSuffix(name, end)
	var out strings.Builder
	digits := false
	for i := range len(name) {
		c := name[i]
		if c >= '0' && c <= '9' {
			if !digits {
				out.WriteByte('#')
			}
			digits = true
			continue
		}
		digits = false
		out.WriteByte(c)
	}
	return out.String() + end
}

// place is one playlist as files: the folder of its segments, and their shapes.
type place struct {
	playlist string // path of the media playlist that was asked for, or of the master
	shapes   map[string]bool
}

// Bounds on what is read of a playlist, and of a master's variants.
const (
	mostRead     = 256 << 10
	mostVariants = 16
)

// placesOf reads a playlist's file and tells in which folders segments of which shape
// belong to it. read gives a file's beginning.
func placesOf(read func(string) ([]byte, error), playlist string) map[string]place {
	out := map[string]place{}
	b, err := read(playlist)
	if err != nil {
		return nil
	}
	uris, master, err := hls.Listed(b)
	if err != nil {
		return nil
	}
	if !master {
		addPlace(out, playlist, playlist, uris)
		return out
	}
	for i, uri := range uris {
		if i == mostVariants {
			break
		}
		at, ok := beside(playlist, uri)
		if !ok {
			continue
		}
		if b, err := read(at); err == nil {
			if segments, again, err := hls.Listed(b); err == nil && !again {
				addPlace(out, at, at, segments)
			}
		}
	}
	return out
}

func addPlace(out map[string]place, playlist, base string, uris []string) {
	for _, uri := range uris {
		at, ok := beside(base, uri)
		if !ok {
			continue
		}
		dir := path.Dir(at)
		p, known := out[dir]
		if !known {
			p = place{playlist: playlist, shapes: map[string]bool{}}
			out[dir] = p
		}
		p.shapes[shape(path.Base(at))] = true
	}
}

// beside is the file that a relative URI of a playlist stands for; false for one that
// names a server, and for one that is absolute: which folder that is, only the web
// server knows.
func beside(playlist, uri string) (string, bool) {
	uri, _, _ = strings.Cut(uri, "?")
	if uri == "" || strings.Contains(uri, "://") || strings.HasPrefix(uri, "/") {
		return "", false
	}
	return path.Join(path.Dir(playlist), uri), true
}

// alike is how many of the last parts of two paths are the same: of several folders
// that hold a playlist of the name asked for, the URL's own has the most.
func alike(file, url string) int {
	a, b := strings.Split(strings.Trim(file, "/"), "/"), strings.Split(strings.Trim(url, "/"), "/")
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// usual are names that any stream's playlist may have.
var usual = map[string]bool{"index.m3u8": true, "playlist.m3u8": true, "master.m3u8": true, "main.m3u8": true, "stream.m3u8": true, "live.m3u8": true, "chunklist.m3u8": true, "out.m3u8": true}

// enough reports whether n like parts of the two paths make a playlist the URL's: its
// folder too, or its name alone where that is the stream's own (a web server may give a
// folder another name).
func enough(n int, url string) bool {
	return n >= 2 || n == 1 && (!usual[path.Base(url)] || strings.Count(strings.Trim(url, "/"), "/") == 0)
}

// writable tells by a descriptor's fdinfo (proc(5): flags are octal) whether it is open
// to write.
func writable(fdinfo []byte) bool {
	for line := range strings.Lines(string(fdinfo)) {
		flags, ok := strings.CutPrefix(line, "flags:")
		if !ok {
			continue
		}
		flags = strings.TrimSpace(flags)
		return flags != "" && (flags[len(flags)-1]&3) != 0 // O_ACCMODE is the lowest two bits
	}
	return false
}
