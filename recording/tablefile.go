package recording

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"snag/internal/private"

	"golang.org/x/sys/unix"
)

// tableFile appends the rows of one table: whole lines in memory, one write a
// second. The memory side is guarded by the writer's lock, the file by its loop.
type tableFile struct {
	name string
	buf  []*buffer // lines not yet handed to the kernel
	held int       // bytes in buf

	file *os.File
	rows int // lines that the kernel has taken
}

// buffer holds whole lines. A recorder begins a new piece once a minute with all that it knows, some
// megabytes in a second: one growing buffer for each table would be copied a dozen times, in each piece.
type buffer struct{ lines []byte }

const bufferSize = 16 << 10

// buffers are those that are empty.
var buffers = sync.Pool{New: func() any { return &buffer{make([]byte, 0, bufferSize)} }}

// add takes a line.
func (t *tableFile) add(line []byte) {
	need := len(line) + 1
	last := len(t.buf) - 1
	if last < 0 || cap(t.buf[last].lines)-len(t.buf[last].lines) < need {
		c := &buffer{}
		if need <= bufferSize {
			c = buffers.Get().(*buffer)
		}
		t.buf = append(t.buf, c)
		last++
	}
	c := t.buf[last]
	c.lines = append(append(c.lines, line...), '\n')
	t.held += need
}

// take hands over what is buffered.
func (t *tableFile) take() []*buffer {
	out := t.buf
	t.buf, t.held = nil, 0
	return out
}

// release gives buffers that were written back.
func release(written []*buffer) {
	for _, c := range written {
		if cap(c.lines) == bufferSize {
			c.lines = c.lines[:0]
			buffers.Put(c)
		}
	}
}

// write appends lines to the file. When the disk takes only a part, the file is
// cut back to its last whole line, so that a full disk tears nothing.
func (t *tableFile) write(dir string, lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	if t.file == nil {
		path := filepath.Join(dir, tablesDir, t.name+".jsonl")
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND|unix.O_NOFOLLOW, private.FileMode())
		if err != nil {
			return fmt.Errorf("write table %s: %w", t.name, err)
		}
		t.file = f
	}
	n, err := t.file.Write(lines)
	if err == nil {
		t.rows += bytes.Count(lines, []byte{'\n'})
		return nil
	}
	whole := bytes.LastIndexByte(lines[:n], '\n') + 1
	t.rows += bytes.Count(lines[:whole], []byte{'\n'})
	if st, serr := t.file.Stat(); serr == nil && n > whole {
		err = errors.Join(err, t.file.Truncate(st.Size()-int64(n-whole)))
	}
	return fmt.Errorf("write table %s: %w", t.name, err)
}

func (t *tableFile) close() error {
	if t.file == nil {
		return nil
	}
	err := errors.Join(t.file.Sync(), t.file.Close())
	t.file = nil
	if err != nil {
		return fmt.Errorf("close table %s: %w", t.name, err)
	}
	return nil
}
