package recording

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"snag/internal/private"

	"golang.org/x/sys/unix"
)

// tableFile appends the rows of one table: whole lines in memory, one write a
// second. The memory side is guarded by the writer's lock, the file by its loop.
type tableFile struct {
	name  string
	buf   []byte // lines not yet handed to the kernel
	spare []byte // the other buffer, so that flushing allocates nothing

	file *os.File
	rows int // lines that the kernel has taken
}

// take hands over what is buffered and puts the spare in its place.
func (t *tableFile) take() []byte {
	out := t.buf
	t.buf = t.spare[:0]
	t.spare = nil
	return out
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
