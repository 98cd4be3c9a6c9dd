package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strconv"
	"strings"
)

// Bounds of a search: a readlink takes 3 µs, so that ten thousand descriptors take
// 30 ms.
const (
	mostFDs = 256   // descriptors of a process that are looked at, the lowest
	mostAll = 20000 // in one search
)

// open is a file that a process has open to write.
type open struct {
	pid, fd int
	path    string // as the process sees it
}

// found is who writes a stream, and where.
type found struct {
	open
	place
	dir string
	by  string
}

// finder looks through /proc.
type finder struct {
	proc    string
	self    int
	refused int // processes whose descriptors may not be seen, in the last search
}

// segments are the files that look like segments and are open to write, and all
// processes.
func (f *finder) segments() (out []open, pids []int) {
	dir, err := os.Open(f.proc)
	if err != nil {
		return nil, nil
	}
	names, _ := dir.Readdirnames(-1)
	dir.Close()
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != f.self {
			pids = append(pids, pid)
		}
	}
	sort.Ints(pids)
	f.refused = 0
	room := mostAll
	for _, pid := range pids {
		if room <= 0 {
			break
		}
		files, asked, err := f.of(pid)
		if errors.Is(err, fs.ErrPermission) {
			f.refused++
		}
		room -= asked
		out = append(out, files...)
	}
	return out, pids
}

// of are the segments that one process has open to write.
func (f *finder) of(pid int) (out []open, asked int, err error) {
	at := f.proc + "/" + strconv.Itoa(pid)
	dir, err := os.Open(at + "/fd")
	if err != nil {
		return nil, 1, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(mostFDs)
	if err != nil && len(names) == 0 {
		return nil, 1, nil
	}
	for _, name := range names {
		to, err := os.Readlink(at + "/fd/" + name)
		if err != nil || !strings.HasPrefix(to, "/") || !segmentLike(path.Base(to)) {
			continue
		}
		info, err := os.ReadFile(at + "/fdinfo/" + name)
		fd, numeric := strconv.Atoi(name)
		if err == nil && numeric == nil && writable(info) {
			out = append(out, open{pid, fd, to})
		}
	}
	return out, len(names), nil
}

// find is who writes the stream whose URL has that path. Of several folders with a
// playlist of its name it is the one that is most like the URL; false where two are.
func (f *finder) find(url string, all []open, pids []int) (found, bool) {
	best, most, times := f.opened(url, all)
	if named, n, again := f.named(url, pids); n > most {
		best, most, times = named, n, again
	}
	return best, times == 1 && enough(most, url)
}

// opened is who has a segment of it open to write, how many parts of the path are like
// the URL's, and how many are as like.
func (f *finder) opened(url string, all []open) (best found, most, times int) {
	seen := map[string]bool{}
	for _, o := range all {
		dir := path.Dir(o.path)
		// The segments of a master's variants lie in folders below it.
		for _, at := range []string{dir, path.Dir(dir)} {
			playlist := path.Join(at, path.Base(url))
			p, ok := f.places(o.pid, playlist)[dir]
			if !ok || !p.shapes[shape(path.Base(o.path))] {
				continue
			}
			n := alike(playlist, url)
			key := strconv.Itoa(o.pid) + " " + playlist
			switch {
			case n > most:
				best, most, times = found{o, p, dir, byOpen}, n, 1
				seen = map[string]bool{key: true}
			case n == most && !seen[key]:
				times++
			}
			break
		}
	}
	return best, most, times
}

// places reads a playlist as a process sees it.
func (f *finder) places(pid int, playlist string) map[string]place {
	return placesOf(func(name string) ([]byte, error) {
		file, err := os.Open(f.rooted(pid, name))
		if err != nil {
			return nil, err
		}
		defer file.Close()
		if st, err := file.Stat(); err != nil || !st.Mode().IsRegular() {
			return nil, fs.ErrInvalid
		}
		return io.ReadAll(io.LimitReader(file, mostRead))
	}, playlist)
}

// rooted is a path of a process' own root as this process reaches it.
func (f *finder) rooted(pid int, name string) string {
	return f.proc + "/" + strconv.Itoa(pid) + "/root" + name
}
