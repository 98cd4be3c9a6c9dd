package recording

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"sort"
	"strings"

	"golang.org/x/sys/unix"
)

// source is where a recording is read from: a folder, or a packed file that has
// been taken apart in memory. Names are slash paths below the recording.
type source interface {
	// open returns a regular file; an error that is os.ErrNotExist when it is
	// not there.
	open(name string) (io.ReadCloser, error)
	// list returns the names in a folder, sorted; none when it is not there.
	list(dir string) []string
}

// folder reads a directory and nothing outside it: a recording may come from
// anyone, and a link in it must not make this host's files part of a verdict.
type folder struct{ root *os.Root }

func (d folder) open(name string) (io.ReadCloser, error) {
	// Non-blocking: a FIFO without a writer would hold the reader for ever.
	f, err := d.root.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		if errors.Is(err, unix.ELOOP) {
			err = fmt.Errorf("%s is a symbolic link, which a recording has not", name)
		}
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (d folder) list(dir string) []string {
	f, err := d.root.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil
	}
	sort.Strings(names)
	return names
}

// files is a packed recording in memory.
type files map[string][]byte

func (m files) open(name string) (io.ReadCloser, error) {
	b, ok := m[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, os.ErrNotExist)
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func (m files) list(dir string) []string {
	var out []string
	for name := range m {
		if d, base := path.Split(name); strings.TrimSuffix(d, "/") == dir {
			out = append(out, base)
		}
	}
	sort.Strings(out)
	return out
}
