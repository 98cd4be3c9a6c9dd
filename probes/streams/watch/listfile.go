package watch

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// settled is how long a file must lie still before its last line is taken without
// a newline: an editor that leaves none is done by then, a script that writes is not.
const settled = 2 * time.Second

// ListFile is a list on the disk that is read again when it changes.
type ListFile struct {
	path string
	seen stamp
	half bool // the last line had no newline and was left

	layers Layers
}

// stamp tells one state of a file from another: an editor that renames a new file
// over it changes the inode, one that writes in place the time or the size.
type stamp struct {
	inode uint64
	size  int64
	mtime time.Time
}

// NewListFile returns the list at path; nothing is read yet.
func NewListFile(path string) *ListFile { return &ListFile{path: path} }

// Layers has each stream watched at its layers, in place of its URL.
func (l *ListFile) Layers(of Layers) { l.layers = of }

// Path is the file's, as it was given.
func (l *ListFile) Path() string { return l.path }

// Look reads the list when it has changed since the last look. changed false means
// that what was returned last still stands: also where the file is gone or can't
// be read, which is the error.
func (l *ListFile) Look(now time.Time) (entries []Entry, problems []Problem, changed bool, err error) {
	f, err := os.OpenFile(l.path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO must not hold the watch up
	if err != nil {
		return nil, nil, false, fmt.Errorf("read the list: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, nil, false, fmt.Errorf("read the list: %w", err)
	}
	if !st.Mode().IsRegular() {
		return nil, nil, false, fmt.Errorf("read the list: %s is not a regular file", l.path)
	}
	at := stampOf(st)
	still := now.Sub(st.ModTime()) >= settled
	if at == l.seen && (!l.half || !still) {
		return nil, nil, false, nil
	}
	b, err := io.ReadAll(io.LimitReader(f, maxListBytes+1))
	if err != nil {
		return nil, nil, false, fmt.Errorf("read the list: %w", err)
	}
	if len(b) > maxListBytes {
		return nil, nil, false, fmt.Errorf("read the list: %s has more than %d MB: is it a list of URLs?", l.path, maxListBytes>>20)
	}
	l.seen = at
	l.half = !still && len(b) > 0 && b[len(b)-1] != '\n'
	entries, problems = ParseList(l.path, b, !l.half)
	entries, more := l.layers.Of(entries)
	return entries, append(problems, more...), true, nil
}

func stampOf(st os.FileInfo) stamp {
	s := stamp{size: st.Size(), mtime: st.ModTime()}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		s.inode = sys.Ino
	}
	return s
}
