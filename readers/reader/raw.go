package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"snag/internal/units"
)

// raw reads a file as it lies there: as far as it went when it was opened, and
// until it is interrupted.
type raw struct {
	file    *os.File
	done    atomic.Int64
	left    int64 // of what it held when it was opened; -1: not known
	size    int64 // what it held then
	blocks  chan block
	block   []byte // what of the last one is not given yet
	end     error
	stopped chan struct{}
	once    sync.Once
}

type block struct {
	data []byte
	err  error
}

func newRaw(f *os.File) *raw { return &raw{file: f, left: -1, stopped: make(chan struct{})} }

// bound has a regular file read as far as it goes now: one that is written
// faster than it is read would have no end. Files of /proc say that they hold
// nothing, and are read to their end.
func (r *raw) bound(size int64) {
	if size > 0 {
		r.left, r.size = size, size
	}
}

// ahead reads a pipe in a goroutine of its own, two blocks ahead: nothing else
// ends a read that waits for a writer who says nothing.
func (r *raw) ahead() {
	r.blocks = make(chan block, 2)
	go func() {
		defer close(r.blocks)
		for {
			b := make([]byte, 128<<10)
			n, err := r.file.Read(b)
			select {
			case r.blocks <- block{b[:n], err}:
			case <-r.stopped:
				return
			}
			if err != nil {
				return
			}
		}
	}()
}

func (r *raw) interrupt() { r.once.Do(func() { close(r.stopped) }) }

// Read is io.Reader's.
func (r *raw) Read(p []byte) (n int, err error) {
	select {
	case <-r.stopped:
		return 0, context.Canceled
	default:
	}
	if r.blocks != nil {
		n, err = r.next(p)
	} else {
		n, err = r.here(p)
	}
	r.done.Add(int64(n))
	return n, err
}

// next gives what was read ahead.
func (r *raw) next(p []byte) (int, error) {
	for len(r.block) == 0 {
		if r.end != nil {
			return 0, r.end
		}
		select {
		case <-r.stopped:
			return 0, context.Canceled
		case b, ok := <-r.blocks:
			if !ok {
				b.err = io.EOF
			}
			r.block, r.end = b.data, b.err
		}
	}
	n := copy(p, r.block)
	r.block = r.block[n:]
	return n, nil
}

func (r *raw) here(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	if r.left > 0 && int64(len(p)) > r.left {
		p = p[:r.left]
	}
	n, err := r.file.Read(p)
	if r.left > 0 {
		r.left -= int64(n)
	}
	return n, err
}

// skipHole goes to where a regular file next has data, lseek(2).
func (r *raw) skipHole() int64 {
	here, err := r.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	next, err := unix.Seek(int(r.file.Fd()), here, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) { // none from here on
		next, err = r.file.Seek(here+r.left, io.SeekStart)
	}
	if err != nil || next < here {
		return 0
	}
	n := min(next-here, r.left)
	r.left -= n
	r.done.Add(n)
	return n
}

// changed compares a regular file with what it was when it was opened.
func (r *raw) changed() string {
	if r.size == 0 {
		return ""
	}
	st, err := r.file.Stat()
	switch {
	case err != nil:
		return ""
	case r.left == 0 && st.Size() > r.size:
		return fmt.Sprintf("it grew by %s while it was read: what came after byte %d is not in it", units.Bytes(float64(st.Size()-r.size)), r.size)
	case st.Size() < r.size:
		return fmt.Sprintf("it was cut from %d to %d bytes while it was read: %d were read", r.size, st.Size(), r.done.Load())
	}
	return ""
}

// cause takes what names the file off an error: whoever tells of it names it.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
